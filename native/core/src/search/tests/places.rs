//! Hits in one place, by one list or several.

use super::*;

#[test]
fn a_place_that_two_lists_agree_on_comes_before_the_best_of_one_of_them() {
    let fused = fuse(&[
        known("text_semantic", &[(1, 0.72), (2, 0.7), (3, 0.1), (4, 0.1)]),
        known("raw_words", &[(4, 12.0), (2, 11.0), (3, 1.0)]),
    ]);
    assert_eq!(segments(&fused)[0], 2);
}

#[test]
fn every_exact_hit_stands_before_likenesses() {
    let likenesses = [range(100, 60, |at| 0.35 - at / 1000.0), vec![(1, 0.1), (2, 0.05)]].concat();
    let words = known("raw_words", &[(1, 9.0), (2, 6.0)]).held(&[(1, 1.0), (2, 1.0)]);
    let fused = fuse_in(&[known("text_semantic", &likenesses), words], Setting { k: 30, ..PLAIN });
    assert_eq!(segments(&fused)[..2], [1, 2]);
    assert!(fused[..2].iter().all(|place| place.best.likelihood.list == 1), "found by their words");
}

#[test]
fn rare_words_as_they_are_written_come_before_other_forms_though_no_list_names_them() {
    let forms = range(10, 20, |at| 12.0 - at / 10.0);
    let whole: Vec<(u32, f32)> = forms.iter().map(|form| form.0).chain([1, 2]).map(|segment| (segment, 1.0)).collect();
    let meaning = Known { read: Some(2), ..known("text_semantic", &[(10, 0.9), (50, 0.95), (1, 0.1), (2, 0.05)]) };
    let words = known("raw_words", &[forms, vec![(1, 5.0), (2, 4.0)]].concat()).held(&whole);
    let words = Known { written: vec![1, 2], read: Some(15), ..words };
    let fused = fuse_in(&[meaning, words], Setting { k: 30, ..PLAIN });
    assert_eq!(segments(&fused)[..2], [1, 2]);
    for place in &fused {
        let likelihood = &place.best.likelihood;
        let sum = likelihood.parts.iter().fold(likelihood.base, |sum, part| sum + part.log_odds);
        assert!((sum - likelihood.log_odds).abs() < 1e-9, "the parts still add up");
    }
}

#[test]
fn neither_k_nor_the_depth_of_lists_changes_what_is_said_of_a_hit() {
    let meaning = known("text_semantic", &range(0, 80, |at| 0.6 - at / 200.0));
    let words: Vec<(u32, f32)> = (0..80).map(|at| ((at * 37) % 80, 12.0 - at as f32 / 10.0)).collect();
    let lists = [meaning, known("raw_words", &words)];
    let at = |depth, k| fuse_in(&lists, Setting { depth, k, ..PLAIN });
    let (few, all) = (at(40, 3), at(80, 80));
    assert_eq!(segments(&few), segments(&all)[..3]);
    assert_eq!(few.iter().map(score).collect::<Vec<_>>(), all[..3].iter().map(score).collect::<Vec<_>>());
}

#[test]
fn the_parts_of_a_likelihood_add_up_over_all_lists() {
    let lists = [
        known("text_semantic", &[(1, 0.7), (2, 0.5), (3, 0.2)]),
        known("raw_words", &[(3, 8.0), (2, 4.0)]).held(&[(3, 1.0)]),
        known("visual_words", &[(11, 0.6), (20, 0.4)]),
        known("visual_picture", &[(20, 0.95), (21, 0.9), (11, 0.2)]),
        known("raw_picture", &[(21, 0.97)]),
    ];
    for place in fuse_in(&lists, Setting { place: |segment| segment % 10, ..PLAIN }) {
        let likelihood = &place.best.likelihood;
        let sum = likelihood.parts.iter().fold(likelihood.base, |sum, part| sum + part.log_odds);
        assert!((sum - likelihood.log_odds).abs() < 1e-9);
    }
}

#[test]
fn segments_of_one_place_are_one_hit_with_the_best_of_them_and_their_number() {
    let lists = [known("text_semantic", &[(7, 0.9), (8, 0.8), (20, 0.3)]), known("raw_words", &[(9, 5.0), (20, 1.0)])];
    let setting = Setting { place: |segment| u32::from(segment >= 10), ..PLAIN };
    let fused = fuse_in(&lists, setting);
    assert_eq!(count(&lists, setting, &fused[0]), 3);
    assert_eq!((segments(&fused)[1], count(&lists, setting, &fused[1])), (20, 1));
}

#[test]
fn a_hit_shows_the_other_passages_that_words_and_meaning_together_speak_for_most() {
    // Of the first place 0 has the words, 1 the meaning, 2 much of both, 3 little; another place stands behind it.
    let meaning = known("text_semantic", &[(0, 0.1), (1, 0.5), (2, 0.45), (3, 0.12), (20, 0.05)]);
    let words = known("raw_words", &[(0, 9.0), (1, 1.0), (2, 7.0), (3, 0.5), (20, 2.0)]);
    let setting = Setting { place: |segment| segment / 10, ..PLAIN };
    let lists = [meaning.clone(), words.clone()];
    assert_eq!(shown_in(&lists, setting), [vec![0, 2, 1], vec![20]], "two beside the best, and none of other places");
    let foreign = Known { foreign: true, ..meaning };
    let fewer = known("raw_words", &[(0, 9.0), (1, 1.0), (2, 7.0), (3, 4.0), (20, 2.0)]);
    assert_eq!(
        shown_in(&[foreign, fewer], setting)[0],
        [0, 2, 3],
        "meaning counts less in a language its model does not know"
    );
    assert_eq!(shown_in(std::slice::from_ref(&words), setting)[0], [0, 2, 1], "by one list alone");
    let note = Known { notes: vec![0], ..words.clone() }.held(&[(0, 1.0)]);
    assert_eq!(shown_in(&[note], setting)[0], [0], "a note about the file stands alone");
    let pairs = known("raw_words", &range(0, 50, |at| 50.0 - at));
    let others = shown_in(&[pairs], setting).into_iter().map(|shown| shown.len() - 1);
    assert_eq!(others.collect::<Vec<_>>(), [2, 2, 2, 0, 0], "of the first three hits");
    let film = Setting { size: |_| 4, ..setting };
    assert_eq!(shown_in(&[words], film)[0], [0], "a film has moments");
}

#[test]
fn equal_scores_are_ordered_by_insertion() {
    assert_eq!(segments(&fuse(&[known("raw_words", &[(5, 1.0), (3, 1.0), (9, 1.0)])])), [3, 5, 9]);
}

#[test]
fn the_best_of_many_poor_pictures_does_not_outrank_a_good_passage() {
    let fused = fuse(&[
        known("text_semantic", &[(1, 0.8), (2, 0.2)]),
        known("raw_words", &[(1, 12.0)]).held(&[(1, 0.8)]),
        known("visual_words", &range(100, 50, |at| 0.3 - at / 1000.0)),
    ]);
    assert_eq!(segments(&fused)[0], 1);
}

#[test]
fn a_near_identical_picture_outranks_every_likeness_and_no_match_changes_nothing() {
    let likeness = known("visual_picture", &[(1, 1.0), (2, 0.5), (3, -0.2)]);
    let fused = fuse(&[likeness.clone(), known("raw_picture", &[(3, 0.85)])]);
    let found: Vec<_> = fused.iter().map(|place| (place.best.likelihood.segment, place.best.likelihood.list)).collect();
    assert_eq!(found[..2], [(3, 1), (1, 0)]);
    let shown = |fused: Vec<FusedPlace>| fused.iter().map(|hit| (segments(&fused), score(hit))).collect::<Vec<_>>();
    assert_eq!(shown(fuse(&[likeness.clone(), known("raw_picture", &[])])), shown(fuse(&[likeness])));
}

#[test]
fn of_near_identical_pictures_the_nearer_is_first() {
    let fused = fuse(&[known("visual_picture", &[(1, 0.5), (2, 0.99)]), known("raw_picture", &[(1, 1.0), (2, 0.9)])]);
    assert_eq!(segments(&fused)[0], 1);
}

#[test]
fn a_page_found_by_its_text_is_not_helped_by_its_look() {
    let meaning = known("text_semantic", &[(1, 0.7), (2, 0.6)]);
    let setting = Setting { place: |segment| segment % 10, ..PLAIN };
    let alone = fuse_in(std::slice::from_ref(&meaning), setting);
    let both = fuse_in(&[meaning, known("visual_words", &[(11, 0.1)])], setting);
    assert_eq!(score(&both[0]), score(&alone[0]));
}

#[test]
fn a_list_counts_less_where_its_model_does_not_know_the_language() {
    let first = |foreign| {
        let meaning = Known { foreign, ..known("text_semantic", &[(1, 0.9), (2, 0.3)]) };
        segments(&fuse(&[meaning, known("raw_words", &[(2, 9.0), (1, 3.0)])]))[0]
    };
    assert_eq!((first(false), first(true)), (1, 2));
}

#[test]
fn a_first_place_that_misses_more_of_the_query_is_believed_less_and_changes_no_order() {
    let with = |(held, lacks)| {
        let words = known("raw_words", &[(1, 3.0), (2, 1.0)]).held(&[(1, held)]).lacks(&[(1, lacks), (2, lacks)]);
        fuse(&[known("text_semantic", &[(1, 0.6), (2, 0.3)]), words])
    };
    let all = [(0.9, 0.0), (0.5, 0.0), (0.2, 0.0), (0.2, 0.9), (0.2, 1.0)].map(with);
    assert!(all.iter().all(|fused| segments(fused) == [1, 2]));
    assert!(all.windows(2).all(|pair| pair[0][0].best.confidence > pair[1][0].best.confidence));
}

#[test]
fn every_hit_is_judged_by_how_far_it_leads_the_best_other_one() {
    let fused = fuse(&[known("raw_words", &[(1, 10.0), (2, 8.0), (3, 5.0)])]);
    let odds: Vec<f64> = fused.iter().map(score).collect();
    // Leads of .2, -.2 and -.5, of which each counts 4.
    assert!((odds[0] - odds[1] - 1.6).abs() < 1e-6 && (odds[1] - odds[2] - 1.2).abs() < 1e-6);
}

#[test]
fn a_list_without_a_measured_curve_orders_and_is_believed_little() {
    let lists = [known("text_semantic", &[(1, 0.95), (2, 0.5)])];
    let mut plan = plan_of(&lists);
    (plan.lists[0].curve, plan.lists[0].with_words) = (None, None);
    let fused = fuse_by(&plan, &lists, PLAIN);
    assert_eq!(segments(&fused), [1, 2]);
    assert!(fused[0].best.confidence < 0.6);
}

#[test]
fn a_models_own_scale_takes_the_place_of_the_indexs_scores() {
    let lists = [known("text_semantic", &[(1, 0.5), (2, 0.2)])];
    let gap = |deviation| {
        let mut plan = plan_of(&lists);
        plan.lists[0].scale = Some(CosineScale { mean: 0.1, deviation });
        let fused = fuse_by(&plan, &lists, PLAIN);
        score(&fused[0]) - score(&fused[1])
    };
    assert!((gap(0.1) - 2.0 * gap(0.2)).abs() < 1e-6);
}

#[test]
fn k_counts_folded_hits_and_less_likely_ones_are_left_out_on_request() {
    let lists = [known("raw_words", &range(0, 50, |at| 50.0 - at))];
    let setting = Setting { place: |segment| segment / 5, ..PLAIN };
    assert_eq!(fuse_in(&lists, Setting { k: 4, ..setting }).len(), 4);
    let all = fuse_in(&lists, setting);
    let likely = fuse_in(&lists, Setting { min_confidence: all[2].best.confidence, ..setting });
    assert_eq!(segments(&likely), segments(&all)[..3]);
}

#[test]
fn a_question_of_two_words_that_are_nowhere_is_judged_by_its_meaning_a_name_of_two_words_is_not() {
    let information = 2.0 * (1000.5f32 / 0.5).ln_1p();
    let words = Known { information, ..known("raw_words", &[]) };
    let meaning = known("text_semantic", &[(1, 0.7), (2, 0.1)]);
    let confidence =
        |words: &Known, asks| fuse_in(&[words.clone(), meaning.clone()], Setting { asks, ..PLAIN })[0].best.confidence;
    assert!(confidence(&words, true) > 0.4);
    assert!(confidence(&words, false) < 0.4);
    let lacking = words.lacks(&[(1, 0.5), (2, 0.5)]);
    assert!(confidence(&lacking, true) < 0.4, "something named is lacking");
}

#[test]
fn a_sentence_is_judged_by_its_meaning_too_a_name_and_a_foreign_one_are_not() {
    let meaning = known("text_semantic", &[(1, 0.7), (2, 0.1)]);
    let words = known("raw_words", &[(1, 5.0)]).held(&[(1, 0.3)]);
    let confidence = |words: &Known, meaning: &Known, asks| {
        let lists = [words.clone(), meaning.clone()];
        let mut plan = plan_of(&lists);
        let weights = Features { lead: 3.0, held: 0.2, missing: -1.2, meaning: 2.0, ..Features::default() };
        plan.lists[1].sentences = Some(Curve { bias: -2.0, weights });
        fuse_by(&plan, &lists, Setting { asks, ..PLAIN })[0].best.confidence
    };
    let name = confidence(&words, &meaning, false);
    let asked = confidence(&words, &meaning, true);
    assert!(asked > name + 0.1, "{asked} {name}");
    assert_eq!(confidence(&Known { words: 3, ..words.clone() }, &meaning, false), asked, "three words are a sentence");
    assert!(confidence(&words.clone().lacks(&[(1, 0.7)]), &meaning, true) < asked, "something named is lacking");
    let foreign = Known { foreign: true, ..meaning };
    assert_eq!(confidence(&words, &foreign, true), confidence(&words, &foreign, false));
}

#[test]
fn in_a_small_index_meaning_may_count_more_for_a_sentence_than_in_a_large_one() {
    let words = known("raw_words", &[(1, 5.0)]).held(&[(1, 0.3)]);
    let confidence = |cosine: f32, segments| {
        let lists = [words.clone(), known("text_semantic", &[(1, cosine), (2, 0.1)])];
        let mut plan = plan_of(&lists);
        let weights = Features { small: -2.0, small_meaning: 3.0, ..Features::default() };
        plan.lists[1].sentences = Some(Curve { bias: 0.0, weights });
        fuse_by(&plan, &lists, Setting { asks: true, segments, ..PLAIN })[0].best.confidence
    };
    let [small, large] = [10, 1_000_000].map(|segments| confidence(0.8, segments) - confidence(0.3, segments));
    assert!(small > 0.3, "{small}");
    assert!(large.abs() < 0.001, "{large}");
}

#[test]
fn a_note_about_a_file_does_not_outrank_a_text_with_the_same_words() {
    let words = known("raw_words", &[(1, 9.0), (2, 3.0), (3, 2.0)]).held(&[(1, 1.0), (2, 1.0), (3, 0.4)]);
    let order = |notes: Vec<u32>| segments(&fuse(&[Known { notes, ..words.clone() }]));
    assert_eq!(order(vec![]), [1, 2, 3]);
    assert_eq!(order(vec![1]), [2, 3, 1], "it counts half of that text");
}

#[test]
fn words_that_stand_there_by_coincidence_count_less_beside_a_model_that_knows_the_language() {
    let words = known("raw_words", &[(1, 9.0), (2, 8.0)]);
    let words = Known { coincidental: [(1, 1.0)].into(), ..words };
    let best = |foreign: bool, share: Option<f64>| {
        let meaning = Known { foreign, ..known("text_semantic", &[(1, 0.3), (2, 0.3)]) };
        let lists = [meaning, words.clone()];
        let mut plan = plan_of(&lists);
        plan.lists[0].other_language_words = share;
        segments(&fuse_by(&plan, &lists, PLAIN))[0]
    };
    assert_eq!(best(false, None), 1);
    assert_eq!(best(false, Some(0.5)), 2);
    assert_eq!(best(true, Some(0.5)), 1, "nothing else is understood");
}
