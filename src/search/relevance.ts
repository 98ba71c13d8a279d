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
