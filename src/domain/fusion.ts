import type { Family } from './family.ts';

/**
 * The ranked lists that one search may fuse: text by its meaning, pictures described in words, pictures by a picture,
 * the words themselves, and a picture's near-copies.
 */
export const LISTS = ['text_semantic', 'visual_words', 'visual_picture', 'raw_words', 'raw_picture'] as const;
export type ListName = (typeof LISTS)[number];

/**
 * Probability of relevance of a list's score: 1 / (1 + e^-(a·x + b)), where x is the score, ln(1 + score), or the score's
 * share of the query's ceiling, the score that nothing exceeds (Platt 1999, "Probabilistic outputs for support vector
 * machines"). BM25's scores grow with the query and the collection; their share of the ceiling does not.
 */
export interface Calibration {
  readonly a: number;
  readonly b: number;
  readonly of: 'score' | 'log_score' | 'share';
}

export interface ListSettings {
  readonly family: Family;
  /** Vector space that serves the list; absent for `raw` lists. */
  readonly space?: string;
  /** Share in the fused score, relative to the other lists of the same search. */
  readonly weight: number;
  readonly calibration: Calibration;
  /** ISO 639-3 codes that the model knows; absent: every language. */
  readonly languages?: readonly string[];
}

/** How the lists of a search become one. Every value comes from the models' manifest. */
export interface FusionSettings {
  /** Entries of each list that are scaled and summed. */
  readonly depth: number;
  /** Share of its weight that a list keeps for a query in a language that its model does not know. */
  readonly unknownLanguageShare: number;
  /** Only the lists that the installed models can serve. */
  readonly lists: Readonly<Partial<Record<ListName, ListSettings>>>;
}

/** Language of a query as detected: ISO 639-3, and whether the guess may be relied on. */
export interface QueryLanguage {
  readonly language: string;
  readonly reliable: boolean;
}

/**
 * Calibrated probability of relevance of a score, 0..1.
 *
 * @param ceiling the highest score that the list's query could have; only `share` needs it
 */
export function confidenceOf(calibration: Calibration, score: number, ceiling = 1): number {
  return 1 / (1 + Math.exp(-(calibration.a * measured(calibration.of, score, ceiling) + calibration.b)));
}

function measured(of: Calibration['of'], score: number, ceiling: number): number {
  if (of === 'log_score') return Math.log1p(Math.max(0, score));
  return of === 'share' ? Math.min(1, score / ceiling) : score;
}

/** Weight of a list for a query: less where the query is reliably in a language that the list's model does not know. */
export function weightOf(
  settings: FusionSettings,
  list: ListSettings,
  language?: QueryLanguage | null,
): number {
  const unknown = language?.reliable === true && list.languages?.includes(language.language) === false;
  return unknown ? list.weight * settings.unknownLanguageShare : list.weight;
}
