import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { InputKind, SpaceName } from '@farthing/protocol/family';
import { deviceRefusal, type ProviderChoice } from './device.ts';
import {
  ENCODING_ROLES,
  type EncodingRole,
  type EncodingRoleName,
  type Manifest,
  type ManifestModel,
  type ManifestVariant,
  type Provider,
} from './manifest.ts';
import { lacksOf } from './readiness.ts';
import {
  type Candidate,
  type Failure,
  type LabelBridge,
  type Missing,
  type TextTower,
  type Tower,
  type Towers,
  textTowerOf,
} from './tower.ts';
import type { Verification } from './verification.ts';

/** The models that may serve here, and why others may not. */
export interface Installed {
  readonly towers: Towers;
  readonly missing: readonly Missing[];
  /** Weights that were passed over, with the reason: for the log. */
  readonly passedOver: readonly Failure[];
}

/** Finds the models in use, checks their files, and lists the weights that each may run with. */
export async function findInstalled(
  manifest: Manifest,
  folder: string,
  verification: Verification,
  choice: ProviderChoice,
): Promise<Installed> {
  const finder = new Finder(manifest, folder, verification, choice);
  for (const name of Object.keys(ENCODING_ROLES) as EncodingRoleName[])
    await finder.find(ENCODING_ROLES[name], manifest.use[name]);
  return finder;
}

/** Looks for towers; where one cannot be had, methods return the reason as text. */
class Finder implements Installed {
  readonly towers: Tower[] = [];
  readonly missing: Missing[] = [];
  readonly passedOver: Failure[] = [];
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

  /** Adds the towers of the model that serves a role, or what is missing without them. */
  async find({ part, space, bridge }: EncodingRole, name: string | undefined): Promise<void> {
    const lack = (asksWith: InputKind, reason: string, lacking = space) =>
      this.missing.push({ space: lacking, asksWith, reason });
    const model = this.#model(name);
    const lackAll = (reason: string) => {
      lack(part, reason);
      if (part !== 'text') lack('text', reason);
    };
    if (!model) return lackAll('no model is in use');
    const tower = await this.#towerOf(model, part);
    if (typeof tower === 'string') return lackAll(tower);
    const filling: Tower = { ...tower, searches: [space], fills: space };
    this.towers.push(filling);
    if (part === 'text') return;
    if (filling.kind === 'picture' && filling.settings.labels && bridge) {
      const labels = await this.#bridge(model, bridge);
      if (typeof labels === 'string') lack('text', labels, bridge);
      else this.towers[this.towers.indexOf(filling)] = { ...filling, bridge: labels };
      return;
    }
    const words = await this.#towerOf(model, 'text');
    if (typeof words === 'string') lack('text', words);
    else this.towers.push({ ...words, searches: [space] });
  }

  #model(name: string | undefined): ManifestModel | undefined {
    return this.#manifest.models.find((model) => model.name === name);
  }

  async #towerOf(model: ManifestModel, part: InputKind): Promise<Tower | string> {
    if (part === 'text') return this.#textTower(model);
    const { name, revision, [part]: settings } = model;
    if (!settings) return `the model has no ${part} part`;
    const candidates = await this.#candidates(model, settings.variants);
    if (typeof candidates === 'string') return candidates;
    // TypeScript does not see that the settings are those of the part.
    return { kind: part, model: name, revision, settings, candidates, searches: [] } as Tower;
  }

  async #textTower(model: ManifestModel): Promise<TextTower | string> {
    const { name, revision, text: settings } = model;
    if (!settings) return 'the model has no text part';
    const tokenizer = model.files[settings.tokenizer]!;
    const refusal = await this.#verification.refusal(tokenizer);
    if (refusal) return refusal;
    const candidates = await this.#candidates(model, settings.variants);
    if (typeof candidates === 'string') return candidates;
    const tokenizerPath = join(this.#folder, tokenizer.path);
    return { kind: 'text', model: name, revision, settings, tokenizerPath, candidates, searches: [] };
  }

  async #bridge(model: ManifestModel, space: SpaceName): Promise<LabelBridge | string> {
    const { file, text_model, template, weight, top, output } = model.picture!.labels!;
    const listed = model.files[file]!;
    const refusal = await this.#verification.refusal(listed);
    if (refusal) return refusal;
    const text = await this.#bridgeText(text_model, space);
    if (typeof text === 'string') return `the labels' text model: ${text}`;
    const lines = (await readFile(join(this.#folder, listed.path), 'utf8')).split('\n');
    const labels = lines
      .map((line) => line.trim())
      .filter((line, index) => line !== '' || index < lines.length - 1);
    const { dimensions } = text.settings;
    const labelsSha256 = listed.sha256!;
    return { space, labels, labelsSha256, template, weight, top, output, dimensions, textModel: text.model };
  }

  /** The text tower of a bridge. A tower that serves already searches this space, too: one vector of a query does for both. */
  async #bridgeText(model: string, space: SpaceName): Promise<TextTower | string> {
    const serving = textTowerOf(this.towers, model);
    if (serving) {
      const both = { ...serving, searches: [...serving.searches, space] };
      this.towers[this.towers.indexOf(serving)] = both;
      return both;
    }
    const found = await this.#textTower(this.#model(model)!);
    if (typeof found === 'string') return found;
    const tower = { ...found, searches: [space] };
    this.towers.push(tower);
    return tower;
  }

  async #candidates(
    model: ManifestModel,
    variants: readonly ManifestVariant[],
  ): Promise<Candidate[] | string> {
    const found: Candidate[] = [];
    let shown: string | undefined;
    for (const variant of variants) {
      const file = model.files[variant.file]!;
      for (const provider of variant.providers) {
        const absent = deviceRefusal(provider, this.#choice);
        const reason = absent ?? this.#runtimeLacks(provider) ?? (await this.#verification.refusal(file));
        if (reason === undefined)
          found.push(candidateOf(variant, provider, join(this.#folder, file.path), file.sha256!));
        // A missing device is not reported at each start; the doctor reports it.
        else if (absent === undefined) this.passedOver.push({ model: model.name, provider, reason });
        // Every machine has a processor: its reason is shown rather than another provider's.
        if (reason !== undefined && (shown === undefined || provider === 'cpu')) shown = reason;
      }
    }
    return found.length > 0 ? found : (shown ?? 'no provider can run it');
  }

  /** Why ONNX Runtime cannot run a provider that was not configured: trying it would log an error at each start. */
  #runtimeLacks(provider: Provider): string | undefined {
    const [lack] = this.#choice === 'auto' ? lacksOf(provider, []) : [];
    return lack && `${lack.what}: ${lack.command}`;
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
