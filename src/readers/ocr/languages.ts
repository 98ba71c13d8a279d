import { missingPackages } from './tesseract.ts';

/** Instead of languages: what the built-in models read. */
export const BUILT_IN = 'auto';

export const isBuiltIn = (languages: readonly string[]): boolean =>
  languages.length === 1 && languages[0] === BUILT_IN;

/** What to do about packages that the languages need and that are not installed; undefined where none is missing. */
export function languageFault(languages: readonly string[]): string | undefined {
  if (languages.length === 0 || isBuiltIn(languages)) return undefined;
  const missing = missingPackages(languages);
  return missing.length > 0
    ? `install ${missing.join(' ')} with npm, or leave the language out; ${BUILT_IN} needs none`
    : undefined;
}
