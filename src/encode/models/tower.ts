import type { Family } from '../../domain/family.ts';
import type { ManifestPicture, ManifestText, Provider } from './manifest.ts';

/** Weights and a provider that may run them, in order of preference. Crosses to the workers as it is. */
export interface Candidate {
  readonly provider: Provider;
  /** Absolute path of the weights. */
  readonly path: string;
  readonly sha256: string;
  /** Where the graph is kept as it was optimised for this processor. Absent: optimised at each opening. */
  readonly graphsFolder?: string;
  readonly queryRows: number;
  readonly ingestRows: number;
  readonly runTokens: number;
  readonly paddingShare: number;
  readonly widths?: readonly number[];
  readonly rowCounts?: readonly number[];
  readonly providerOptions?: Readonly<Record<string, string | number | boolean>>;
  readonly sessionOptions?: Readonly<Record<string, string>>;
  /** What these weights call their inputs and output, and how they are pooled, where it is not what the part says. */
  readonly graph?: Partial<Pick<ManifestText, 'inputs' | 'output' | 'pooling'>>;
}

/** A model's text part. */
export interface TextTower {
  readonly model: string;
  readonly revision: string;
  readonly settings: ManifestText;
  readonly tokenizerPath: string;
  readonly candidates: readonly Candidate[];
  /** Spaces that a query's vector of this tower searches. */
  readonly querySpaces: readonly SpaceName[];
  /** Space that passages go to; absent for the words of a picture model. */
  readonly passageSpace?: SpaceName;
}

/** How a classifier's labels put a picture into a text model's space. */
export interface LabelBridge {
  readonly labels: readonly string[];
  readonly labelsSha256: string;
  readonly template: string;
  readonly weight: 'probability' | 'sqrt';
  readonly top: number;
  readonly output: string;
  readonly dimensions: number;
  /** Index of the text tower whose space it is. */
  readonly text: number;
}

/** A model's picture part. */
export interface PictureTower {
  readonly model: string;
  readonly revision: string;
  readonly settings: ManifestPicture;
  readonly candidates: readonly Candidate[];
  readonly bridge?: LabelBridge;
}

/** The models that serve: what a worker opens. */
export interface Towers {
  readonly texts: readonly TextTower[];
  readonly picture?: PictureTower;
}

export const SPACE_NAMES = ['text_semantic', 'visual_picture', 'visual_words'] as const;
export type SpaceName = (typeof SPACE_NAMES)[number];

/** Why a use of a family is not served; absent: it is. */
export interface Missing {
  readonly family: Exclude<Family, 'raw'>;
  readonly use: 'words' | 'pictures';
  readonly reason: string;
}
