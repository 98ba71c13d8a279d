import { walkXml } from '../text/xml.ts';
import type { Zip } from './zip.ts';

/** A reference from one part of a package to another (ECMA-376 part 2, 9.3). */
export interface Relationship {
  readonly id: string;
  /** The last step of its type's address, such as `comments`: the rest differs between editions of the standard. */
  readonly type: string;
  /** Name of a member. */
  readonly target: string;
}

/** The references of a part to parts of the same package. @param part empty: those of the package itself */
export function relationships(zip: Zip, part: string): Relationship[] {
  return referencesOf(zip, part, false);
}

/** Where the links of a part lead, by their ids. */
export function linksOf(zip: Zip, part: string): ReadonlyMap<string, string> {
  return new Map(referencesOf(zip, part, true).map(({ id, target }) => [id, target]));
}

function referencesOf(zip: Zip, part: string, isExternal: boolean): Relationship[] {
  const folder = folderOf(part);
  const source = zip.text(`${folder}_rels/${part.slice(folder.length)}.rels`);
  const found: Relationship[] = [];
  if (source === undefined) return found;
  walkXml(source, {
    open: (name, { Id, Type = '', Target, TargetMode }) => {
      if (name !== 'Relationship' || !Id || !Target || (TargetMode === 'External') !== isExternal) return;
      found.push({
        id: Id,
        type: Type.slice(Type.lastIndexOf('/') + 1),
        target: isExternal ? Target : resolvePath(folder, Target),
      });
    },
  });
  return found;
}

/** Members that are referred to as something. */
export function targetsOf(related: readonly Relationship[], type: string): string[] {
  return related.filter((relationship) => relationship.type === type).map(({ target }) => target);
}

/** The part that is the document, by what the package refers to. */
export function documentPart(zip: Zip): string | undefined {
  return targetsOf(relationships(zip, ''), 'officeDocument').find((part) => zip.has(part));
}

export function folderOf(part: string): string {
  return part.slice(0, part.lastIndexOf('/') + 1);
}

/** A path in an archive, relative to a folder. It cannot lead outside: it is only compared with the names of members. */
export function resolvePath(folder: string, reference: string): string {
  const target = reference.replace(/[#?].*$/s, '').replaceAll('\\', '/');
  const steps = target.startsWith('/') ? [] : folder.split('/').filter(Boolean);
  for (const step of target.split('/')) {
    if (step === '..') steps.pop();
    else if (step !== '' && step !== '.') steps.push(step);
  }
  return steps.join('/');
}
