const QUESTION =
  /\?\s*$|^\s*(?:(?:who|whom|whose|what|which|when|where|why|how)\b|(?:is|are|was|were|do|does|did|can|could|may|must|shall|should|will|would|has|have|had)\s+(?:an?|the|this|that|there|i|we|you|he|she|it|they|my|our|your)\b)/i;

/** Whether words ask something: by their end in any language, by their beginning in English, the language of descriptions. */
export function isQuestion(words: string): boolean {
  return QUESTION.test(words);
}
