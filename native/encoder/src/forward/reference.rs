//! The same network in plain f64, for the tests: no bytes between the layers, no tiles, no lanes.

use crate::bert::weights::{Attention, Bert, Embedding, Layer, Linear, Norm, Pooling, Table, Values};

type Matrix = Vec<Vec<f64>>;

fn linear(linear: &Linear, rows: &Matrix) -> Matrix {
    let weight = |input: usize, output: usize| f64::from(linear.weights[input * linear.outputs + output] as i8);
    let output = |row: &Vec<f64>, output: usize| {
        let sum: f64 = row.iter().enumerate().map(|(input, value)| value * weight(input, output)).sum();
        sum * f64::from(linear.scales[output]) + f64::from(linear.bias[output])
    };
    rows.iter().map(|row| (0..linear.outputs).map(|at| output(row, at)).collect()).collect()
}

fn norm(norm: &Norm, rows: &mut Matrix) {
    for row in rows {
        let size = row.len() as f64;
        let mean = row.iter().sum::<f64>() / size;
        let variance = row.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / size;
        for (at, value) in row.iter_mut().enumerate() {
            let scaled = (*value - mean) / (variance + f64::from(norm.epsilon)).sqrt();
            *value = scaled * f64::from(norm.gain[at]) + f64::from(norm.shift[at]);
        }
    }
}

fn add(rows: &mut Matrix, more: &Matrix) {
    rows.iter_mut().flatten().zip(more.iter().flatten()).for_each(|(value, more)| *value += more);
}

fn attend(attention: &Attention, rows: &Matrix) -> Matrix {
    let (queries, keys, values) =
        (linear(&attention.query, rows), linear(&attention.key, rows), linear(&attention.value, rows));
    let size = queries[0].len() / attention.heads;
    let mut out = vec![vec![0.0; queries[0].len()]; rows.len()];
    for head in 0..attention.heads {
        let of = head * size..(head + 1) * size;
        for (query, out) in queries.iter().zip(&mut out) {
            let score = |key: &Vec<f64>| -> f64 {
                let product: f64 = query[of.clone()].iter().zip(&key[of.clone()]).map(|(a, b)| a * b).sum();
                product * f64::from(attention.scale)
            };
            let scores: Vec<f64> = keys.iter().map(score).collect();
            let most = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let shares: Vec<f64> = scores.iter().map(|score| (score - most).exp()).collect();
            let sum: f64 = shares.iter().sum();
            for (share, value) in shares.iter().zip(&values) {
                out[of.clone()].iter_mut().zip(&value[of.clone()]).for_each(|(out, value)| *out += share / sum * value);
            }
        }
    }
    out
}

/// The error function by its series, which converges quickly here.
fn erf(x: f64) -> f64 {
    if x.abs() > 5.0 {
        return x.signum();
    }
    let (mut term, mut sum) = (x, x);
    for n in 1..200 {
        term *= -x * x / f64::from(n);
        sum += term / f64::from(2 * n + 1);
    }
    sum * 2.0 / std::f64::consts::PI.sqrt()
}

pub fn gelu(x: f64) -> f64 {
    x * (1.0 + erf(x / std::f64::consts::SQRT_2)) / 2.0
}

/// The vector of a text.
pub fn vector(bert: &Bert, ids: &[u32]) -> Vec<f64> {
    let mut row = vec![0.0; bert.hidden];
    let mut rows: Matrix = (ids.iter().enumerate())
        .map(|(position, id)| {
            bert.embedding.words.copy_row(*id as usize, &mut row);
            let positions = &bert.embedding.positions[position * bert.hidden..];
            row.iter().zip(positions).map(|(word, position)| f64::from(*word) + f64::from(*position)).collect()
        })
        .collect();
    norm(&bert.embedding.norm, &mut rows);
    for layer in &bert.layers {
        let mixed = attend(&layer.attention, &rows);
        add(&mut rows, &linear(&layer.attention_output, &mixed));
        norm(&layer.attention_norm, &mut rows);
        let mut inner = linear(&layer.up, &rows);
        inner.iter_mut().flatten().for_each(|value| *value = gelu(*value));
        add(&mut rows, &linear(&layer.down, &inner));
        norm(&layer.output_norm, &mut rows);
    }
    let pooled: Vec<f64> = match bert.pooling {
        Pooling::Mean => (0..bert.hidden).map(|at| rows.iter().map(|row| row[at]).sum()).collect(),
        Pooling::First => rows[0].clone(),
        Pooling::Last => rows[rows.len() - 1].clone(),
    };
    let length = pooled.iter().map(|value| value * value).sum::<f64>().sqrt();
    pooled.iter().map(|value| value / length).collect()
}

/// Numbers that are the same in each run, about evenly in −1..1.
struct Random(u64);

impl Random {
    fn next(&mut self) -> f32 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 40) as f32 / (1 << 23) as f32) - 1.0
    }

    fn many(&mut self, count: usize, scale: f32, middle: f32) -> Vec<f32> {
        (0..count).map(|_| self.next() * scale + middle).collect()
    }

    fn linear(&mut self, inputs: usize, outputs: usize) -> Linear {
        let scale = 2.0 / (inputs as f32).sqrt() / 127.0;
        Linear {
            inputs,
            outputs,
            weights: (0..inputs * outputs).map(|_| (self.next() * 127.9) as i8 as u8).collect(),
            scales: self.many(outputs, scale / 2.0, scale),
            bias: self.many(outputs, 0.3, 0.0),
        }
    }

    fn norm(&mut self, hidden: usize) -> Norm {
        Norm { gain: self.many(hidden, 0.4, 1.0), shift: self.many(hidden, 0.2, 0.0), epsilon: 1e-12 }
    }
}

/// Sizes of a model of random weights.
#[derive(Clone, Copy)]
pub struct Sizes {
    pub hidden: usize,
    pub heads: usize,
    pub inner: usize,
    pub layers: usize,
    pub words: usize,
    pub positions: usize,
    pub pooling: Pooling,
}

pub fn random(sizes: Sizes) -> Bert {
    let mut random = Random(sizes.hidden as u64 * 31 + sizes.layers as u64);
    let Sizes { hidden, heads, inner, words, positions, pooling, .. } = sizes;
    let layers = (0..sizes.layers)
        .map(|_| Layer {
            attention: Attention {
                query: random.linear(hidden, hidden),
                key: random.linear(hidden, hidden),
                value: random.linear(hidden, hidden),
                heads,
                scale: 1.0 / ((hidden / heads) as f32).sqrt(),
            },
            attention_output: random.linear(hidden, hidden),
            attention_norm: random.norm(hidden),
            up: random.linear(hidden, inner),
            down: random.linear(inner, hidden),
            output_norm: random.norm(hidden),
        })
        .collect();
    let table = Table { rows: words, columns: hidden, values: Values::Floats(random.many(words * hidden, 1.0, 0.0)) };
    let positions = random.many(positions * hidden, 0.3, 0.0);
    let embedding = Embedding { words: table, positions, norm: random.norm(hidden) };
    Bert { hidden, embedding, layers, pooling }
}
