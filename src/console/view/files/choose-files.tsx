import { useRef } from 'preact/hooks';
import { addFiles } from '../../model/files/upload.ts';
import { UploadIcon } from '../controls/icons.tsx';

/** Opens the browser's chooser; what is chosen is added. */
export function ChooseFiles({ label }: { label: string }) {
  const input = useRef<HTMLInputElement>(null);
  return (
    <>
      <button type="button" class="drop" onClick={() => input.current?.click()}>
        <UploadIcon /> {label}
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
    </>
  );
}
