import { type Farthing, FarthingError, type Workspace, type WorkspaceAnswer } from '@farthing/client';
import { floorOf } from '@farthing/protocol/search';
import { NO_WORKSPACE, type Scope } from './backend.ts';
import { ITEMS_DEFAULT, TOOL_K_DEFAULT, TOOL_LINES_DEFAULT } from './tool-arguments.ts';
import type { ArgumentsOf, Backend } from './tools.ts';

/** Keeps the tokens of workspaces: the model sees only their ids. */
export interface WorkspaceKeeper {
  /** This session's workspace: chosen when it began, or created in it. */
  current(): string | undefined;
  find(id: string): Promise<Workspace | undefined>;
  add(workspace: Workspace, record: WorkspaceAnswer): Promise<void>;
  remove(id: string): Promise<void>;
}

export interface LocalDeps {
  readonly client: Farthing;
  readonly keeper: WorkspaceKeeper;
  readonly readFile: (path: string) => Promise<Uint8Array>;
  readonly signal: AbortSignal;
}

/** Pays from this machine's wallet, within the client's budget. */
export function localBackend({ client, keeper, readFile, signal }: LocalDeps): Backend {
  const chosen = async ({ workspace: id }: Scope): Promise<Workspace | undefined> => {
    const wanted = id ?? keeper.current();
    if (wanted === undefined || wanted === NO_WORKSPACE) return undefined;
    const found = await keeper.find(wanted);
    if (found) return found;
    // A call meant for a workspace that has ended must not be paid by the call instead.
    throw new FarthingError(
      'workspace_unauthorized',
      `The workspace ${wanted} has ended, or is not known here. workspace "${NO_WORKSPACE}" means your own index, paid by the call.`,
    );
  };
  const needed = async (scope: Scope): Promise<Workspace> => {
    const workspace = await chosen(scope);
    if (!workspace)
      throw new FarthingError('workspace_unauthorized', 'There is no workspace: create one first.');
    return workspace;
  };
  const ownerOf = (scope: Scope) => (scope.workspace === undefined ? client : needed(scope));
  return {
    search: async ({ image_path, image_b64, thumbnails, max_chars, min_confidence, ...others }, scope) => {
      const image = image_path === undefined ? undefined : await readFile(image_path);
      const workspace = await chosen(scope);
      const request = {
        k: TOOL_K_DEFAULT,
        ...others,
        image,
        maxChars: max_chars,
        minConfidence: min_confidence ?? floorOf(image !== undefined || others.like !== undefined),
        signal,
      };
      const body = await (workspace ?? client).search(request).catch(asArgument);
      return { body, scope: { workspace: workspace?.id }, warning: workspace?.warning };
    },
    grep: async ({ pattern, ignore_case, max_lines = TOOL_LINES_DEFAULT, ...rest }, scope) => {
      const options = { ...rest, ignoreCase: ignore_case, maxLines: max_lines, signal };
      return { body: await (await needed(scope)).grep(pattern, options), scope };
    },
    ingest: async (file, scope) => {
      const { source, name } = sourceOf(file);
      const workspace = await chosen(scope);
      const { key, metadata } = file;
      const body = await (workspace ?? client).ingest(source, { name, key, metadata, signal });
      return { body, scope: { workspace: workspace?.id } };
    },
    workspace_create: async ({ ttl_minutes, spend_limit_usd, language }) => {
      const { workspace, record } = await client.workspaces.rent({
        ttlMinutes: ttl_minutes,
        spendLimitUsd: spend_limit_usd,
        language,
        signal,
      });
      await keeper.add(workspace, record);
      return { body: { ...record, left_usd: client.spending.leftUsd }, scope: { workspace: workspace.id } };
    },
    workspace_extend: async ({ ttl_minutes, reserve }, scope) => {
      const body = await (await needed(scope)).extend({ ttlMinutes: ttl_minutes, reserve, signal });
      return { body, scope };
    },
    workspace_end_reserve: async (_none, scope) => ({
      body: await (await needed(scope)).endReserve(),
      scope,
    }),
    workspace_usage: async (_none, scope) => ({ body: await (await needed(scope)).usage(), scope }),
    workspace_dispose: async (_none, scope) => {
      const workspace = await needed(scope);
      const disposal = await workspace.dispose();
      await keeper.remove(workspace.id);
      return { body: disposal, scope };
    },
    item_list: async ({ limit = ITEMS_DEFAULT, after }, scope) => ({
      body: await (await needed(scope)).items({ limit, after, signal }),
      scope,
    }),
    item_read: async ({ item, ...place }, scope) => ({
      body: await (await needed(scope)).text(item, { ...place, signal }),
      scope,
    }),
    item_delete: async ({ item }, scope) => ({ body: await (await needed(scope)).remove(item), scope }),
    item: async (item, scope) => (await ownerOf(scope)).item(item),
    preview: async (item, part, scope) => (await ownerOf(scope)).preview(item, part, { signal }),
    baseUrl: client.baseUrl,
  };
}

/** A refusal names what the tool has: the picture came by its path. */
function asArgument(error: unknown): never {
  if (!(error instanceof FarthingError) || !error.detail.includes('image_b64')) throw error;
  const { code, detail, status, facts } = error;
  throw new FarthingError(code, detail.replaceAll('image_b64', 'image_path'), {
    status,
    facts: { ...facts, ...('field' in facts && { field: 'image_path' }) },
  });
}

/** @param fields names of the tool's three sources @throws field_invalid unless exactly one of them is given */
export function sourceOf(
  { path, text, content_b64, name }: ArgumentsOf<'ingest'>,
  fields = 'path, text and content_b64',
): {
  source: string | Blob;
  name?: string;
} {
  const sources = [path, text, content_b64].filter((value) => value !== undefined);
  if (sources.length !== 1) throw new FarthingError('field_invalid', `Give one of ${fields}.`);
  if (path !== undefined) return { source: path, name };
  if (text !== undefined) return { source: new Blob([text]), name: name ?? 'note.txt' };
  const bytes = typeof content_b64 === 'string' ? Buffer.from(content_b64, 'base64') : content_b64!;
  return { source: new Blob([bytes]), name };
}
