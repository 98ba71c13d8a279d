import type { InputKind, SpaceName } from '@farthing/protocol/family';
import type { Engine, ManifestPicture, ManifestText } from './manifest.ts';

/** Weights and what may run them, in order of preference. Sent to the workers as it is. */
export interface Candidate {
  readonly provider: Engine;
  /** Absolute path of the weights. */
  readonly path: string;
  /** Identity of its vectors: of the file, and with `native` of the arithmetic, too. */
  readonly sha256: string;
  /** Folder of graphs optimised for this processor. Absent: the graph is optimised at each opening. */
  readonly graphsFolder?: string;
  readonly queryRows: number;
  readonly ingestRows: number;
  readonly runTokens: number;
  readonly paddingShare: number;
  readonly widths?: readonly number[];
  readonly rowCounts?: readonly number[];
  readonly providerOptions?: Readonly<Record<string, string | number | boolean>>;
  readonly sessionOptions?: Readonly<Record<string, string>>;
  /** Names of inputs and output, and the pooling, where these weights differ from what the part describes. */
  readonly graph?: Partial<Pick<ManifestText, 'inputs' | 'output' | 'pooling'>>;
}

/** A part of a model that makes vectors of one kind of input. */
interface TowerCommon {
  readonly kind: InputKind;
  readonly model: string;
  readonly revision: string;
  readonly candidates: readonly Candidate[];
  /** Spaces that a query's vector of this tower searches. */
  readonly searches: readonly SpaceName[];
  /** Space of its vectors of an ingest; absent: it encodes queries alone. */
  readonly fills?: SpaceName;
}

export interface TextTower extends TowerCommon {
  readonly kind: 'text';
  readonly settings: ManifestText;
  readonly tokenizerPath: string;
}

export interface PictureTower extends TowerCommon {
  readonly kind: 'picture';
  readonly settings: ManifestPicture;
  readonly bridge?: LabelBridge;
}

/** How a classifier's labels put a picture into a text model's space. */
export interface LabelBridge {
  readonly space: SpaceName;
  readonly labels: readonly string[];
  readonly labelsSha256: string;
  readonly template: string;
  readonly weight: 'probability' | 'sqrt';
  readonly top: number;
  readonly output: string;
  readonly dimensions: number;
  /** The text model whose space it is. */
  readonly textModel: string;
}

export type Tower = TextTower | PictureTower;

/** Whether it runs on the processor. */
export function onProcessor({ provider }: Pick<Candidate, 'provider'>): boolean {
  return provider === 'cpu' || provider === 'native';
}

/** The towers that serve, in the order in which each worker opens them: tasks name them by their index. */
export type Towers = readonly Tower[];

/** Queries that a space does not answer. */
export interface Missing {
  readonly space: SpaceName;
  /** Absent: any. */
  readonly asksWith?: InputKind;
  readonly reason: string;
}

/** A model's failure on a provider; without a provider: on all of them. */
export interface Failure {
  readonly model: string;
  readonly provider: string;
  readonly reason: string;
}

export function pictureTowerOf(towers: Towers): PictureTower | undefined {
  return towers.find((tower) => tower.kind === 'picture');
}

/** The text part of a model. */
export function textTowerOf(towers: Towers, model: string): TextTower | undefined {
  return towers.find((tower) => tower.kind === 'text' && tower.model === model) as TextTower | undefined;
}

/** The tower that a document's passages go to, and whose tokens they are measured in. */
export function passageTowerOf(towers: Towers): TextTower | undefined {
  return towers.find((tower) => tower.kind === 'text' && tower.fills !== undefined) as TextTower | undefined;
}

/** Bytes of one input in the memory that a worker shares; 0 where inputs are sent as messages. */
export function inputBytes(tower: Tower): number {
  switch (tower.kind) {
    case 'text':
      return 0;
    case 'picture':
      return tower.settings.width * tower.settings.height * 3;
  }
}
