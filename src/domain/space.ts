/** A vector space of an index: all of its vectors were made by one model. */
export interface SpaceSpec {
  readonly name: string;
  readonly dimensions: number;
  /** SHA-256 of the model's file, hexadecimal: vectors of another model are refused. */
  readonly modelSha256: string;
}

/** A space and the model that filled it. */
export interface FilledSpace {
  /** Name of the space that the model in use has in its place. */
  readonly role: string;
  readonly modelSha256: string;
}

/** A space of an index that another model than the one in use filled, and that still serves. */
export interface PreviousSpace extends FilledSpace {
  /** What the space goes by in queries and Segments, as {@link previousKey} makes it. */
  readonly key: string;
}

/** Key of a previous model's space: its role, `@`, and the first 16 digits of its model's SHA-256. */
export function previousKey({ role, modelSha256 }: FilledSpace): string {
  return `${role}@${modelSha256.slice(0, 16)}`;
}

/** Whether {@link previousKey} made this key; spaces of models in use go by their role. */
export function isPreviousKey(key: string): boolean {
  return key.includes('@');
}

/** The role of the space with this key. */
export function roleOfKey(key: string): string {
  return key.split('@', 1)[0]!;
}
