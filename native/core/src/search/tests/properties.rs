//! Properties of all lists.

use proptest::prelude::*;

use super::*;

fn some_scores(of: std::ops::Range<f32>) -> impl Strategy<Value = Scores> {
    proptest::collection::btree_map(0..60u32, of, 0..40)
}

proptest! {
    #[test]
    fn confidence_is_the_probability_of_the_score_and_neither_rises_down_the_list(
        meaning in some_scores(-0.2..1.0),
        words in some_scores(0.1..20.0),
        held in some_scores(0.0..1.0),
        look in some_scores(-0.2..1.0),
        same in some_scores(0.85..1.0),
        written in proptest::collection::btree_set(0..60u32, 0..3),
        k in 0..70usize,
    ) {
        let written = written.into_iter().collect();
        let words = Known { held, written, scores: words, ..known("raw_words", &[]) };
        let lists = [
            Known { scores: meaning, ..known("text_semantic", &[]) },
            Known { scores: look, ..known("visual_picture", &[]) },
            words,
            Known { scores: same, ..known("raw_picture", &[]) },
        ];
        let setting = Setting { place: |segment| segment / 3, ..PLAIN };
        let all = fuse_in(&lists, Setting { k: 100, ..setting });
        for (at, place) in all.iter().enumerate() {
            let best = &place.best;
            let probability = 1.0 / (1.0 + (-score(place)).exp());
            prop_assert!((best.confidence - probability).abs() < 1e-6, "as it is shown");
            prop_assert!((0.0..=1.0).contains(&best.confidence));
            prop_assert!(at == 0 || score(place) <= score(&all[at - 1]));
        }
        let fused = fuse_in(&lists, Setting { k, ..setting });
        prop_assert_eq!(segments(&fused), segments(&all)[..k.min(all.len())].to_vec(), "k cuts the list and no more");
        let mut again = lists;
        again.reverse();
        let scores: Vec<f64> = all.iter().map(score).collect();
        let turned: Vec<f64> = fuse_in(&again, Setting { k: 100, ..setting }).iter().map(score).collect();
        prop_assert!(
            scores.iter().zip(&turned).all(|(one, other)| (one - other).abs() < 1e-9),
            "the order of the lists changes nothing",
        );
    }
}
