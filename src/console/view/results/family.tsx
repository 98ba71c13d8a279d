import { FAMILY_TABLE, type Family } from '../../../domain/family.ts';

/** A family's name in its colour. */
export function FamilyTag({ family }: { family: Family }) {
  return (
    <span class="family" data-family={family} title={family}>
      {FAMILY_TABLE[family]?.label ?? family}
    </span>
  );
}
