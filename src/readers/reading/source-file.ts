/** A file in memory while its format is recognised and its contents are read. */
export class SourceFile {
  readonly bytes: Uint8Array;
  /** As its sender calls it. It decides nothing by itself. */
  readonly name: string | undefined;
  readonly #findings = new Map<unknown, unknown>();

  constructor(bytes: Uint8Array, name?: string) {
    this.bytes = bytes;
    this.name = name;
  }

  /** What `probe` finds in the bytes. A probe runs once, however many formats ask for it. */
  find<T>(probe: (bytes: Uint8Array) => T): T {
    if (!this.#findings.has(probe)) this.#findings.set(probe, probe(this.bytes));
    return this.#findings.get(probe) as T;
  }
}
