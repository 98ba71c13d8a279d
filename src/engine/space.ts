/** A vector space of an index: all of its vectors were made by one model. */
export interface SpaceSpec {
  readonly name: string;
  readonly dimensions: number;
  /** Identity of the model's weights and their arithmetic, hexadecimal: vectors of another model are refused. */
  readonly modelSha256: string;
}
