import { useRef, useState } from 'preact/hooks';
import { addFiles } from '../../model/files/files.ts';
import { formatBytes } from '../../model/format.ts';
import { type FileEntry, type FileState, session } from '../../model/session.ts';
import { useStore } from '../../model/store.ts';
import { UploadIcon } from '../controls/icons.tsx';

/** The stages of a job, in order; a dot for each. */
const STAGES: readonly FileState[] = ['accepted', 'extracting', 'encoding', 'committing', 'searchable'];
const WORDS: Readonly<Record<FileState, string>> = {
  pending: 'accepted',
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

/** Drop files, and see how far each is. */
export function Files() {
  const { files } = useStore(session);
  const input = useRef<HTMLInputElement>(null);
  const [over, setOver] = useState(false);
  const drop = (event: DragEvent) => {
    event.preventDefault();
    setOver(false);
    addFiles([...(event.dataTransfer?.files ?? [])]);
  };
  return (
    <section class="card files" aria-labelledby="files-title">
      <h2 id="files-title">Files</h2>
      <button
        type="button"
        class="drop"
        data-over={over}
        onClick={() => input.current?.click()}
        onDragOver={(event) => {
          event.preventDefault();
          setOver(true);
        }}
        onDragLeave={() => setOver(false)}
        onDrop={drop}
      >
        <UploadIcon />
        <span>
          Drop files here, or <u>choose</u>
        </span>
      </button>
      <input
        ref={input}
        class="unseen"
        type="file"
        multiple
        tabIndex={-1}
        aria-label="Files to add"
        onChange={({ currentTarget }) => {
          addFiles([...(currentTarget.files ?? [])]);
          currentTarget.value = '';
        }}
      />
      {files.length > 0 && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard
        <section class="file-scroller" tabIndex={0} aria-label="Added files">
          <ul>
            {files.map((file) => (
              <FileRow key={file.key} file={file} />
            ))}
          </ul>
        </section>
      )}
    </section>
  );
}

function FileRow({ file }: { file: FileEntry }) {
  const { name, bytes, state, progress, segments: count, why } = file;
  const reached = state === 'duplicate' ? STAGES.length : STAGES.indexOf(state) + 1;
  const bad = state === 'failed' || state === 'refused';
  const segments =
    state === 'searchable' && count !== undefined ? `, ${count} ${count === 1 ? 'segment' : 'segments'}` : '';
  return (
    <li class="file" data-bad={bad} data-state={state}>
      <span class="file-name" title={name}>
        {name}
      </span>
      <span class="quiet figure">{formatBytes(bytes)}</span>
      <span class="stages" aria-hidden="true">
        {STAGES.map((stage, index) => (
          <i
            key={stage}
            data-on={index < reached}
            data-now={index === reached - 1 && reached < STAGES.length}
          />
        ))}
      </span>
      <span class="file-state">
        {WORDS[state]}
        {reached > 0 && reached < STAGES.length && progress > 0
          ? ` ${Math.round(progress * 100)} %`
          : segments}
      </span>
      {why !== undefined && <p class="why">{why}</p>}
    </li>
  );
}
