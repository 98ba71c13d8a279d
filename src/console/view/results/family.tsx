import type { Family } from '../../../domain/family.ts';

/** The families in words for people. */
export const FAMILY_WORDS: Readonly<Record<Family, string>> = {
  text_semantic: 'Meaning',
  visual: 'Look',
  raw: 'Exact',
};

/** A family's name in its colour. */
export function FamilyTag({ family }: { family: Family }) {
  return (
    <span class="family" data-family={family} title={family}>
      {FAMILY_WORDS[family] ?? family}
    </span>
  );
}
