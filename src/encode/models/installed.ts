import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { deviceRefusal, type ProviderChoice } from './device.ts';
import type { Manifest, ManifestModel, ManifestVariant } from './manifest.ts';
import type { Candidate, LabelBridge, Missing, PictureTower, SpaceName, TextTower, Towers } from './tower.ts';
import type { Verification } from './verification.ts';

/** The models that may serve here, and why others may not. */
export interface Installed {
  readonly towers: Towers;
  readonly missing: readonly Missing[];
  /** Weights that were passed over, with the reason: for logs and `/readyz`. */
  readonly passedOver: readonly {
    readonly model: string;
    readonly provider: string;
    readonly reason: string;
  }[];
}

/** Finds the models in use, checks their files, and lists the weights that each may run with. */
export async function findInstalled(
  manifest: Manifest,
  folder: string,
  verification: Verification,
  choice: ProviderChoice,
): Promise<Installed> {
  const search = new Search(manifest, folder, verification, choice);
  await search.text();
  await search.visual();
  const { texts, picture, missing, passedOver } = search;
  return { towers: { texts, ...(picture ? { picture } : {}) }, missing, passedOver };
}

class Search {
  readonly texts: TextTower[] = [];
  picture: PictureTower | undefined;
  readonly missing: Missing[] = [];
  readonly passedOver: { model: string; provider: string; reason: string }[] = [];
  readonly #manifest: Manifest;
  readonly #folder: string;
  readonly #verification: Verification;
  readonly #choice: ProviderChoice;

  constructor(manifest: Manifest, folder: string, verification: Verification, choice: ProviderChoice) {
    this.#manifest = manifest;
    this.#folder = folder;
    this.#verification = verification;
    this.#choice = choice;
  }

  #model(name: string | undefined): ManifestModel | undefined {
    return this.#manifest.models.find((model) => model.name === name);
  }

  async text(): Promise<void> {
    const model = this.#model(this.#manifest.use.text_semantic);
    const tower = model ? await this.#textTower(model, ['text_semantic']) : 'no model is in use';
    if (typeof tower === 'string')
      this.missing.push({ family: 'text_semantic', use: 'words', reason: tower });
    else this.texts.push({ ...tower, passageSpace: 'text_semantic' });
  }

  async visual(): Promise<void> {
    const model = this.#model(this.#manifest.use.visual);
    const lack = (use: Missing['use'], reason: string) =>
      this.missing.push({ family: 'visual', use, reason });
    if (!model?.picture) {
      lack('pictures', 'no model is in use');
      lack('words', 'no model is in use');
      return;
    }
    const candidates = await this.#candidates(model, model.picture.variants);
    if (typeof candidates === 'string') {
      lack('pictures', candidates);
      lack('words', candidates);
      return;
    }
    const { name, revision, picture } = model;
    const bridge = picture.labels ? await this.#bridge(model) : undefined;
    this.picture = {
      model: name,
      revision,
      settings: picture,
      candidates,
      ...(typeof bridge === 'object' ? { bridge } : {}),
    };
    if (typeof bridge === 'string') lack('words', bridge);
    else if (!bridge && !model.text) lack('words', 'the model has no text part');
    else if (model.text) {
      const tower = await this.#textTower(model, ['visual_picture']);
      if (typeof tower === 'string') lack('words', tower);
      else this.texts.push(tower);
    }
  }

  async #textTower(model: ManifestModel, querySpaces: SpaceName[]): Promise<TextTower | string> {
    const settings = model.text;
    if (!settings) return 'the model has no text part';
    const tokenizer = model.files[settings.tokenizer]!;
    const refusal = await this.#verification.refusal(tokenizer);
    if (refusal) return refusal;
    const candidates = await this.#candidates(model, settings.variants);
    if (typeof candidates === 'string') return candidates;
    const tokenizerPath = join(this.#folder, tokenizer.path);
    return { model: model.name, revision: model.revision, settings, tokenizerPath, candidates, querySpaces };
  }

  async #bridge(model: ManifestModel): Promise<LabelBridge | string> {
    const { file, text_model, template, weight, top, output } = model.picture!.labels!;
    const listed = model.files[file]!;
    const refusal = await this.#verification.refusal(listed);
    if (refusal) return refusal;
    const text = await this.#textOfBridge(text_model);
    if (typeof text === 'string') return `the labels' text model: ${text}`;
    const lines = (await readFile(join(this.#folder, listed.path), 'utf8')).split('\n');
    const labels = lines
      .map((line) => line.trim())
      .filter((line, index) => line !== '' || index < lines.length - 1);
    const { dimensions } = this.texts[text]!.settings;
    return { labels, labelsSha256: listed.sha256!, template, weight, top, output, dimensions, text };
  }

  /** The text tower of a bridge, the one of `text_semantic` where it is the same model: then one query vector does for both. */
  async #textOfBridge(name: string): Promise<number | string> {
    const same = this.texts.findIndex((tower) => tower.model === name);
    if (same >= 0) {
      const tower = this.texts[same]!;
      this.texts[same] = { ...tower, querySpaces: [...tower.querySpaces, 'visual_words'] };
      return same;
    }
    const tower = await this.#textTower(this.#model(name)!, ['visual_words']);
    if (typeof tower === 'string') return tower;
    return this.texts.push(tower) - 1;
  }

  async #candidates(
    model: ManifestModel,
    variants: readonly ManifestVariant[],
  ): Promise<Candidate[] | string> {
    const found: Candidate[] = [];
    let first: string | undefined;
    for (const variant of variants) {
      const file = model.files[variant.file]!;
      for (const provider of variant.providers) {
        const reason = deviceRefusal(provider, this.#choice) ?? (await this.#verification.refusal(file));
        if (reason === undefined)
          found.push(candidateOf(variant, provider, join(this.#folder, file.path), file.sha256!));
        else this.passedOver.push({ model: model.name, provider, reason });
        // The processor's reason is the one to show: it is the provider that every machine has.
        if (reason !== undefined && (first === undefined || provider === 'cpu')) first = reason;
      }
    }
    return found.length > 0 ? found : (first ?? 'no provider can run it');
  }
}

function candidateOf(
  variant: ManifestVariant,
  provider: Candidate['provider'],
  path: string,
  sha256: string,
): Candidate {
  return {
    provider,
    path,
    sha256,
    queryRows: variant.query_rows,
    ingestRows: variant.ingest_rows,
    runTokens: variant.run_tokens ?? Number.MAX_SAFE_INTEGER,
    paddingShare: variant.padding_share ?? 1,
    ...(variant.widths ? { widths: variant.widths } : {}),
    ...(variant.row_counts ? { rowCounts: variant.row_counts } : {}),
    ...(variant.provider_options ? { providerOptions: variant.provider_options } : {}),
    ...(variant.session_options ? { sessionOptions: variant.session_options } : {}),
    graph: {
      ...(variant.inputs ? { inputs: variant.inputs } : {}),
      ...(variant.output ? { output: variant.output } : {}),
      ...(variant.pooling ? { pooling: variant.pooling } : {}),
    },
  };
}
