//! Times in RFC 3339, as days since 1970.

/// Days of a date or time: `2026-11-28`, `2026-11-28T09:00:00.5Z`, `…+02:00`. Without a zone it is UTC. None for other text.
pub fn days_of(text: &str) -> Option<f64> {
    let (date, time) = match text.split_once(['T', 't', ' ']) {
        Some((date, time)) => (date, Some(time)),
        None => (text, None),
    };
    let mut parts = date.split('-');
    let (year, month, day) =
        (digits(parts.next()?, 4)?, digits(parts.next()?, 2).filter(|month| (1..=12).contains(month))?, parts.next()?);
    let day = digits(day, 2).filter(|day| (1..=31).contains(day))?;
    if parts.next().is_some() {
        return None;
    }
    let seconds = time.map_or(Some(0.0), seconds_of)?;
    Some(days_from_civil(year, month, day) as f64 + seconds / 86_400.0)
}

/// Seconds of a day, in UTC: those of another zone may be of the day before or after.
fn seconds_of(time: &str) -> Option<f64> {
    let at = time.find(['Z', 'z', '+', '-']).unwrap_or(time.len());
    let (clock, zone) = time.split_at(at);
    let offset = match zone.split_at_checked(1) {
        None | Some(("Z" | "z", "")) => 0.0,
        Some((sign @ ("+" | "-"), zone)) => {
            let (hours, minutes) = zone.split_once(':')?;
            let seconds = (digits(hours, 2)? * 3600 + digits(minutes, 2)? * 60) as f64;
            if sign == "+" { seconds } else { -seconds }
        }
        Some(_) => return None,
    };
    let mut parts = clock.splitn(3, ':');
    let hours = digits(parts.next()?, 2).filter(|hours| *hours < 24)?;
    let minutes = digits(parts.next()?, 2).filter(|minutes| *minutes < 60)?;
    let seconds = match parts.next() {
        None => 0.0,
        Some(text) if text.starts_with(|first: char| first.is_ascii_digit()) => {
            text.parse().ok().filter(|seconds: &f64| *seconds < 61.0)?
        }
        Some(_) => return None,
    };
    Some((hours * 3600 + minutes * 60) as f64 + seconds - offset)
}

fn digits(text: &str, count: usize) -> Option<i64> {
    let is_number = text.len() == count && text.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| text.parse().ok())?
}

/// Days from 1970-01-01 to a date of the Gregorian calendar (Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms",
/// 2013).
fn days_from_civil(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let of_era = year.rem_euclid(400);
    let of_year = (153 * (month + if month > 2 { -3 } else { 9 }) + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_and_times_are_days_since_1970() {
        for (text, days) in [
            ("1970-01-01", Some(0.0)),
            ("2000-02-29", Some(11_016.0)),
            ("2026-11-28T12:00:00.000Z", Some(20_785.5)),
            ("2026-11-28T12:00+06:00", Some(20_785.25)),
            ("2026-11-28 18:00:00-06:00", Some(20_786.0)),
            ("1969-12-31", Some(-1.0)),
            ("2026-13-01", None),
            ("2026-11", None),
            ("28.11.2026", None),
            ("2026-11-28T25:00:00Z", None),
            ("2026-11-28T12:00:00CET", None),
            ("", None),
        ] {
            assert_eq!(days_of(text), days, "{text}");
        }
    }
}
