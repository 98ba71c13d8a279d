/** Language of a query as detected: ISO 639-3, and whether the guess is reliable. */
export interface QueryLanguage {
  readonly language: string;
  readonly reliable: boolean;
}

/** Whether a query is reliably in a language that a list's model does not know. */
export function isForeign(
  { languages }: { readonly languages?: readonly string[] },
  language?: QueryLanguage | null,
): boolean {
  return language?.reliable === true && languages?.includes(language.language) === false;
}

const QUESTION =
  /\?\s*$|^\s*(?:(?:who|whom|whose|what|which|when|where|why|how)\b|(?:is|are|was|were|do|does|did|can|could|may|must|shall|should|will|would|has|have|had)\s+(?:an?|the|this|that|there|i|we|you|he|she|it|they|my|our|your)\b)/i;

/** Whether words ask something: by their end in any language, by their beginning in English, the language of descriptions. */
export function isQuestion(words: string): boolean {
  return QUESTION.test(words);
}
