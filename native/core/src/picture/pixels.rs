//! Bytes of a picture to the numbers of a model's input.

/// Order of a picture's numbers: channel by channel, or pixel by pixel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    Nchw,
    Nhwc,
}

/// Writes `(x / 255 − mean) / std` of 8-bit RGB pixels into `out`. Both slices have the same length, a multiple of
/// three.
pub fn normalise(rgb: &[u8], mean: [f32; 3], std: [f32; 3], layout: Layout, out: &mut [f32]) -> Result<(), String> {
    if rgb.len() != out.len() || !rgb.len().is_multiple_of(3) {
        return Err(format!("{} bytes of RGB do not fill {} numbers", rgb.len(), out.len()));
    }
    if std.iter().chain(&mean).any(|value| !value.is_finite()) || std.contains(&0.0) {
        return Err("mean and standard deviation must be finite, and the latter not zero".into());
    }
    let table: [[f32; 256]; 3] = std::array::from_fn(|channel| {
        std::array::from_fn(|value| (value as f32 / 255.0 - mean[channel]) / std[channel])
    });
    match layout {
        Layout::Nhwc => {
            for (pixel, target) in rgb.chunks_exact(3).zip(out.chunks_exact_mut(3)) {
                for channel in 0..3 {
                    target[channel] = table[channel][pixel[channel] as usize];
                }
            }
        }
        Layout::Nchw => {
            let plane = rgb.len() / 3;
            let (red, rest) = out.split_at_mut(plane);
            let (green, blue) = rest.split_at_mut(plane);
            for (((pixel, red), green), blue) in rgb.chunks_exact(3).zip(red).zip(green).zip(blue) {
                *red = table[0][pixel[0] as usize];
                *green = table[1][pixel[1] as usize];
                *blue = table[2][pixel[2] as usize];
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_layouts_hold_the_same_numbers() {
        let rgb = [0u8, 51, 102, 153, 204, 255];
        let (mut planes, mut pixels) = ([0f32; 6], [0f32; 6]);
        normalise(&rgb, [0.5; 3], [0.5; 3], Layout::Nchw, &mut planes).unwrap();
        normalise(&rgb, [0.5; 3], [0.5; 3], Layout::Nhwc, &mut pixels).unwrap();
        for (pixel, channel) in [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2)] {
            let expected = (f32::from(rgb[pixel * 3 + channel]) - 127.5) / 127.5;
            assert!((pixels[pixel * 3 + channel] - expected).abs() < 1e-6);
            assert_eq!(pixels[pixel * 3 + channel], planes[channel * 2 + pixel]);
        }
    }

    #[test]
    fn wrong_lengths_and_zero_deviations_are_errors() {
        assert!(normalise(&[0; 6], [0.5; 3], [0.5; 3], Layout::Nchw, &mut [0.0; 5]).is_err());
        assert!(normalise(&[0; 4], [0.5; 3], [0.5; 3], Layout::Nchw, &mut [0.0; 4]).is_err());
        assert!(normalise(&[0; 3], [0.5; 3], [0.5, 0.0, 0.5], Layout::Nchw, &mut [0.0; 3]).is_err());
    }
}
