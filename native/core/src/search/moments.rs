//! The other moments of a film that its hit shows.

use serde::Deserialize;

use super::fusion::FoundMoment;
use crate::error::{Result, ShardError};

/// Moments beside the best one that a hit shows.
const MOMENTS_MAX: usize = 10;

/// The fields that are read of a Segment's record.
#[derive(Deserialize)]
struct Timed {
    #[serde(default)]
    locator: Stretch,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Deserialize)]
pub struct Stretch {
    pub time_s: Option<f64>,
    pub time_end_s: Option<f64>,
}

/// A moment that is shown.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ShownMoment {
    pub time_s: f64,
    pub time_end_s: Option<f64>,
    pub confidence: f64,
}

/// The moments of one hit, best first. Of those that overlap, a frame and what is said in it, the best is shown.
/// `record_of`: a Segment's record, as JSON.
pub fn shown_moments<'a>(
    best: &FoundMoment,
    others: &[FoundMoment],
    record_of: impl Fn(u32) -> Result<Option<&'a str>>,
) -> Result<Vec<ShownMoment>> {
    let mut shown = vec![];
    if others.is_empty() {
        return Ok(shown);
    }
    let stretch_of = |moment: &FoundMoment| -> Result<Stretch> {
        let Some(record) = record_of(moment.likelihood.segment)? else { return Ok(Stretch::default()) };
        let timed: Timed =
            serde_json::from_str(record).map_err(|_| ShardError::corrupt("A segment's record is damaged."))?;
        Ok(timed.locator)
    };
    let mut taken = vec![stretch_of(best)?];
    for other in others {
        if shown.len() == MOMENTS_MAX {
            break;
        }
        let stretch = stretch_of(other)?;
        let Some(time_s) = stretch.time_s else { continue };
        if taken.iter().any(|taken| overlap(taken, &stretch)) {
            continue;
        }
        taken.push(stretch);
        shown.push(ShownMoment { time_s, time_end_s: stretch.time_end_s, confidence: other.confidence });
    }
    Ok(shown)
}

fn overlap(one: &Stretch, other: &Stretch) -> bool {
    let (Some(first), Some(second)) = (one.time_s, other.time_s) else { return false };
    let (before, after, end) =
        if first <= second { (first, second, one.time_end_s) } else { (second, first, other.time_end_s) };
    after < end.unwrap_or(before) || after == before
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::likelihood::Likelihood;
    use crate::search::plan::Kind;

    fn found(segment: u32, confidence: f64) -> FoundMoment {
        let likelihood = Likelihood { candidate: 0, log_odds: 0.0, base: 0.0, parts: vec![], list: 0, segment };
        FoundMoment { kind: Kind::Pictures, likelihood, confidence }
    }

    /// The moments of one hit whose best has the first locator; the others were found in this order.
    fn moments(locators: &[&str]) -> Vec<(f64, Option<f64>, f64)> {
        let records: Vec<String> =
            locators.iter().map(|locator| format!(r#"{{"item":"film","locator":{locator}}}"#)).collect();
        let all: Vec<FoundMoment> =
            (0..records.len()).map(|at| found(at as u32, 0.5 - (at as f64 - 1.0) / 100.0)).collect();
        let shown =
            shown_moments(&all[0], &all[1..], |segment| Ok(records.get(segment as usize).map(String::as_str))).unwrap();
        shown.iter().map(|moment| (moment.time_s, moment.time_end_s, moment.confidence)).collect()
    }

    fn at(from: u32, to: u32) -> String {
        format!(r#"{{"time_s":{from},"time_end_s":{to}}}"#)
    }

    #[test]
    fn moments_have_times_and_confidence_and_the_best_of_those_that_overlap_is_shown() {
        let stretches = [at(10, 20), at(12, 14), at(20, 30), at(25, 28), at(0, 11), at(0, 10)];
        let mut all: Vec<&str> = stretches.iter().map(String::as_str).collect();
        all.push(r#"{"time_s":40}"#);
        assert_eq!(moments(&all), [(20.0, Some(30.0), 0.49), (0.0, Some(10.0), 0.46), (40.0, None, 0.45)]);
        assert_eq!(moments(&[&at(10, 20), &at(10, 12), r#"{"time_s":15}"#]), []);
    }

    #[test]
    fn tags_of_a_film_have_no_time_and_take_none_from_its_moments() {
        assert_eq!(moments(&["{}", &at(3, 5), "{}"]), [(3.0, Some(5.0), 0.5)]);
    }

    #[test]
    fn at_most_ten_are_shown() {
        let stretches: Vec<String> = (0..31).map(|at_ten| at(at_ten * 10, at_ten * 10 + 5)).collect();
        assert_eq!(moments(&stretches.iter().map(String::as_str).collect::<Vec<_>>()).len(), 10);
    }
}
