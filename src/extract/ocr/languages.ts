import { missingPackages } from './tesseract.ts';

/** Instead of languages: what the built-in models read. */
export const BUILT_IN = 'auto';

export const isBuiltIn = (languages: readonly string[]): boolean =>
  languages.length === 1 && languages[0] === BUILT_IN;

/** @throws when packages that the languages need are not installed */
export function checkLanguages(languages: readonly string[]): void {
  if (languages.length === 0 || isBuiltIn(languages)) return;
  const missing = missingPackages(languages);
  if (missing.length > 0) throw new Error(`install ${missing.join(' ')} with npm, or leave the language out`);
}
