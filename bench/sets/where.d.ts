/** The folder of a set or of other data, by its name or path; undefined where it is absent. */
export function whereOf(name: string): string | undefined;
/** True for a folder of BEIR's shape. */
export function isBeirSet(folder: string): boolean;
