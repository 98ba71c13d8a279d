import { bytesText } from '@farthing/protocol/figures';
import { sayNotRead } from '@farthing/protocol/file/not-read';
import { factsOf } from '@farthing/protocol/schema/facts';
import { SHOWN_FIELDS } from '@farthing/protocol/schema/shown-fields';
import { memo } from 'preact/compat';
import { useEffect, useRef, useState } from 'preact/hooks';
import { VOICE } from '../../model/figures/format.ts';
import { saveItem } from '../../model/files/content.ts';
import { isFailed } from '../../model/files/overview.ts';
import { remove } from '../../model/files/upload.ts';
import { attempt } from '../../model/server/attempt.ts';
import type { FileEntry, FileState } from '../../model/state/entry.ts';
import { CloseIcon, SaveIcon } from '../controls/icons.tsx';

/** The stages of a job, in order; a dot for each. */
const STAGES: readonly FileState[] = ['accepted', 'extracting', 'encoding', 'committing'];
const WORDS: Readonly<Record<FileState, string>> = {
  pending: 'being read',
  waiting: 'waiting',
  sending: 'uploading',
  accepted: 'accepted',
  extracting: 'reading',
  encoding: 'encoding',
  committing: 'writing',
  searchable: 'searchable',
  duplicate: 'already there',
  failed: 'failed',
  cancelled: 'cancelled',
  refused: 'refused',
};

/** Removing such a file cannot be undone, so it is confirmed first. */
const isKept = ({ item, state }: FileEntry) => item !== undefined && state !== 'failed';

/** One file: its name, what it is or how far it is, and buttons that save and remove it. */
export const FileRow = memo(({ file }: { file: FileEntry }) => {
  const { name, bytes, state, item, path } = file;
  const [asks, setAsks] = useState(false);
  const remover = useRef<HTMLButtonElement>(null);
  const keep = () => {
    setAsks(false);
    remover.current?.focus();
  };
  const reached = STAGES.indexOf(state) + 1;
  const others = item ? [item.name, ...(item.aliases ?? [])].filter((other) => other !== name) : [];
  const isThere = item !== undefined && (state === 'searchable' || state === 'duplicate');
  return (
    <li class="file" data-bad={isFailed(file)} data-state={state}>
      <span class="file-name" title={path ?? name}>
        {name}
      </span>
      <span class="file-buttons">
        {isThere && (
          <button
            type="button"
            class="plain"
            aria-label={`Save ${path ?? name}`}
            title="Save the file"
            onClick={() => void attempt(undefined, () => saveItem({ id: item.id, name }))}
          >
            <SaveIcon />
          </button>
        )}
        <button
          type="button"
          class="plain"
          ref={remover}
          aria-label={`Remove ${path ?? name}`}
          title="Remove from the workspace"
          aria-expanded={asks}
          onClick={() => (isKept(file) ? setAsks(!asks) : void remove([file]))}
        >
          <CloseIcon />
        </button>
      </span>
      <span class="file-state">
        {sayState(file)}
        <span> · {bytesText(bytes)}</span>
      </span>
      {path !== undefined && path !== name && <span class="file-path">{path}</span>}
      {others.length > 0 && <span class="file-path">also {others.join(', ')}</span>}
      {asks && <Question name={name} onNo={keep} onYes={() => void remove([file])} />}
      {(item?.not_read ?? []).map((part) => (
        <span key={`${part.what} ${part.why}`} class="file-unread">
          not read: {sayNotRead(part)}
        </span>
      ))}
      {(reached > 0 || state === 'sending') && (
        <span class="stages" aria-hidden="true">
          {STAGES.map((stage, index) => (
            <i key={stage} data-on={index < reached} data-now={index === reached - 1} />
          ))}
        </span>
      )}
    </li>
  );
});

/** A removal destroys the file and its part of the index at once. */
function Question({ name, onNo, onYes }: { name: string; onNo: () => void; onYes: () => void }) {
  const yes = useRef<HTMLButtonElement>(null);
  useEffect(() => yes.current?.focus(), []);
  const leave = ({ key }: KeyboardEvent) => key === 'Escape' && onNo();
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: Escape works on each of its buttons
    <span class="file-question" onKeyDown={leave}>
      <span>Remove for good?</span>
      <button type="button" class="danger" aria-label={`Remove ${name} for good`} ref={yes} onClick={onYes}>
        Remove
      </button>
      <button type="button" onClick={onNo}>
        Keep
      </button>
    </span>
  );
}

function sayState({ state, progress, item }: FileEntry): string {
  if (state === 'searchable' && item)
    return factsOf(SHOWN_FIELDS.item, item, 'page', VOICE)
      .map(({ value, beside }) => value + beside)
      .join(' · ');
  const isRunning = state === 'sending' || STAGES.includes(state);
  return isRunning && progress > 0 ? `${WORDS[state]} ${Math.round(progress * 100)} %` : WORDS[state];
}
