//! Films, and pictures that are described.

use super::*;

/// Segments 100 to 199 are a film's frames, 50 to 59 its subtitles, one for every ten frames.
const FILM: Setting = Setting {
    place: |segment| if segment >= 50 { 50 } else { segment },
    moment: Some(|segment| if segment >= 100 { 50 + (segment - 100) / 10 } else { segment }),
    ..PLAIN
};

#[test]
fn a_film_is_one_hit_with_its_other_moments_best_first() {
    let frames = [range(100, 100, |at| 0.6 - at / 500.0), vec![(1, 0.5), (2, 0.3)]].concat();
    let words = known("raw_words", &[(57, 9.0), (3, 8.0)]).held(&[(57, 1.0), (3, 0.9)]);
    let lists = [known("visual_words", &frames), words];
    let fused = fuse_in(&lists, FILM);
    let film = fused.iter().find(|place| place.best.likelihood.segment >= 50).unwrap();
    let mut found: Vec<u32> = segments(&fused).into_iter().map(FILM.place).collect();
    found.sort_unstable();
    assert_eq!(found, [1, 2, 3, 50]);
    assert_eq!(film.best.likelihood.segment, 57, "the subtitle is the likeliest");
    let moments: Vec<u32> = film.moments.iter().map(|moment| moment.likelihood.segment).collect();
    assert_eq!(moments[..3], [100, 110, 120], "the best frame of each shot, and the shot of the subtitle once");
    assert_eq!(count(&lists, FILM, film), 101);
    assert!(film.moments.is_sorted_by(|one, other| one.confidence >= other.confidence));
    let min_confidence = film.moments[1].confidence;
    let likely = fuse_in(&lists, Setting { min_confidence, ..FILM });
    assert!(likely[0].moments.iter().all(|moment| moment.confidence >= min_confidence));
}

#[test]
fn moments_of_one_film_take_nothing_from_each_other_and_k_counts_films() {
    let setting = Setting { place: |segment| if segment < 10 { 0 } else { segment }, moment: Some(|it| it), ..PLAIN };
    let alone = fuse_in(&[known("visual_words", &[(1, 0.7), (20, 0.2)])], setting);
    let often = [known("visual_words", &[(1, 0.7), (2, 0.69), (3, 0.68), (20, 0.2)])];
    let both = fuse_in(&often, Setting { k: 2, ..setting });
    assert_eq!(score(&both[0]), score(&alone[0]));
    assert_eq!(segments(&both), [1, 20]);
    let words = known("raw_words", &[(1, 9.0), (2, 8.9), (20, 3.0)]).held(&[(1, 1.0), (2, 1.0), (20, 0.3)]);
    let few = known("raw_words", &[(1, 9.0), (20, 3.0)]).held(&[(1, 1.0), (20, 0.3)]);
    assert_eq!(score(&fuse_in(&[words], setting)[0]), score(&fuse_in(&[few], setting)[0]), "nor do its subtitles");
}

#[test]
fn a_list_names_its_first_places_whatever_the_moments_of_a_film_before_them() {
    let setting = Setting { place: |segment| if segment < 500 { 0 } else { segment }, moment: Some(|it| it), ..PLAIN };
    let setting = Setting { depth: 50, k: 100, ..setting };
    let scores = [range(0, 500, |at| 0.9 - at / 5000.0), range(500, 60, |at| 0.5 - at / 1000.0)].concat();
    let lists = [known("visual_words", &scores)];
    let fused = fuse_in(&lists, setting);
    assert_eq!(fused.len(), 50);
    assert_eq!(count(&lists, setting, &fused[0]), 500);
    assert!(fused[0].moments.len() < 20);
}

#[test]
fn frames_of_a_film_are_so_many_chances_to_look_like_a_description_not_like_a_picture() {
    let setting = Setting {
        place: |segment| segment.min(100),
        moment: Some(|it| it),
        size: |segment| if segment >= 100 { 60 } else { 0 },
        ..PLAIN
    };
    let scores = [(100, 0.45), (101, 0.44), (1, 0.44), (2, 0.2)];
    let first = |name, scores: &[(u32, f32)]| segments(&fuse_in(&[known(name, scores)], setting))[0];
    assert_eq!(first("visual_words", &scores), 1);
    assert_eq!(first("visual_picture", &scores), 100);
    assert_eq!(first("visual_words", &[(100, 0.6), (1, 0.44)]), 100, "a film that plainly shows it comes first");
}

#[test]
fn a_query_that_describes_no_picture_makes_described_pictures_less_likely_and_nothing_else() {
    let lists = [
        known("raw_words", &[(1, 9.0)]).held(&[(1, 1.0)]),
        known("visual_words", &[(2, 0.4)]),
        known("visual_picture", &[(3, 0.4)]),
    ];
    let odds_of = |setting, segment| {
        let fused = fuse_in(&lists, setting);
        fused.iter().find(|place| place.best.likelihood.segment == segment).map(score).unwrap()
    };
    let odds = |describes_none, segment| odds_of(Setting { describes_none, ..PLAIN }, segment);
    assert_eq!(odds(true, 1), odds(false, 1));
    assert_eq!(odds(true, 3), odds(false, 3));
    assert!(odds(true, 2) < odds(false, 2) - 1.0);
    let of_facts = Setting { describes_none: true, asks_of_facts: true, ..PLAIN };
    assert_eq!([odds_of(of_facts, 1), odds_of(of_facts, 3)], [odds(false, 1), odds(false, 3)]);
    assert!(odds_of(of_facts, 2) < odds(true, 2) - 1.0, "who, when, why and how no picture says");
    assert!(asks_of_facts("How heavy is the cat") && !asks_of_facts("what does the cat look like"));
}
