/**
 * Probability of relevance of a list's score: 1 / (1 + e^-(a·x + b)), where x is the score, ln(1 + score), or the score's
 * share of the highest score that the query could have (Platt 1999, "Probabilistic outputs for support vector machines").
 * BM25's scores grow with the query and the collection; their share of that ceiling does not.
 */
export interface Calibration {
  readonly a: number;
  readonly b: number;
  readonly of: 'score' | 'log_score' | 'share';
}

/** Language of a query as detected: ISO 639-3, and whether the guess is reliable. */
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
  switch (of) {
    case 'score':
      return score;
    case 'log_score':
      return Math.log1p(Math.max(0, score));
    case 'share':
      return Math.min(1, score / ceiling);
  }
}

/** Whether a query is reliably in a language that a list's model does not know. */
export function isForeign(
  { languages }: { readonly languages?: readonly string[] },
  language?: QueryLanguage | null,
): boolean {
  return language?.reliable === true && languages?.includes(language.language) === false;
}

/**
 * Weight of a list for a query. Where the query is reliably in a language that the list's model does not know, the list keeps
 * a share of its weight.
 */
export function weightOf(
  list: { readonly weight: number; readonly languages?: readonly string[] },
  unknownLanguageShare: number,
  language?: QueryLanguage | null,
): number {
  const isUnknown = language?.reliable === true && list.languages?.includes(language.language) === false;
  return isUnknown ? list.weight * unknownLanguageShare : list.weight;
}
