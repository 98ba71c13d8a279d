import { useEffect, useRef, useState } from 'preact/hooks';
import { FAMILIES, FAMILY_TABLE, type Family } from '../../../domain/family.ts';
import { dropPicture, search, setOptions, takePicture } from '../../model/search/search.ts';
import { session } from '../../model/session.ts';
import { useStore } from '../../model/store.ts';
import { CloseIcon, PictureIcon, SearchIcon } from '../controls/icons.tsx';

const COUNTS = [10, 30, 100, 1000];

/** Words, a picture, or both; which families, and how many hits. */
export function SearchForm() {
  const { query, picture, searching, facts } = useStore(session);
  const [families, setFamilies] = useState<readonly Family[]>([]);
  const [k, setK] = useState(30);
  const [over, setOver] = useState(false);
  const field = useRef<HTMLInputElement>(null);
  const chooser = useRef<HTMLInputElement>(null);
  useEffect(() => setOptions({ families, k }), [families, k]);
  useEffect(() => field.current?.focus(), []);
  useShortcuts(field);
  const submit = (event: Event) => {
    event.preventDefault();
    void search();
  };
  const drop = (event: DragEvent) => {
    event.preventDefault();
    setOver(false);
    takeFirstPicture(event.dataTransfer?.files);
  };
  const toggle = (family: Family) =>
    setFamilies(families.includes(family) ? families.filter((one) => one !== family) : [...families, family]);
  return (
    <search>
      <form
        class="search"
        data-over={over}
        onSubmit={submit}
        onDragOver={(event) => {
          event.preventDefault();
          setOver(true);
        }}
        onDragLeave={() => setOver(false)}
        onDrop={drop}
      >
        <div class="field">
          {picture && (
            <span class="picture-chip">
              <img src={picture.address} alt={`Searching with ${picture.name}`} />
              <button
                type="button"
                class="plain"
                aria-label="Search without the picture"
                onClick={dropPicture}
              >
                <CloseIcon />
              </button>
            </span>
          )}
          <input
            ref={field}
            type="search"
            name="query"
            aria-label="Search for"
            placeholder={picture ? 'and these words' : 'Ask, describe a picture, or paste one'}
            autoComplete="off"
            maxLength={2000}
            value={query}
            onInput={({ currentTarget }) => session.set({ query: currentTarget.value })}
          />
          <button
            type="button"
            class="plain"
            aria-label="Search with a picture"
            title="Search with a picture"
            onClick={() => chooser.current?.click()}
          >
            <PictureIcon />
          </button>
          <input
            ref={chooser}
            class="unseen"
            type="file"
            accept="image/jpeg,image/png,image/webp,image/bmp"
            tabIndex={-1}
            aria-label="Picture to search with"
            onChange={({ currentTarget }) => {
              takeFirstPicture(currentTarget.files);
              currentTarget.value = '';
            }}
          />
          <button type="submit" class="primary go" aria-label="Search" aria-busy={searching}>
            <SearchIcon />
            <span>Search</span>
          </button>
        </div>
        <fieldset class="options">
          <legend class="unseen">Families to search; none means all that apply</legend>
          {FAMILIES.map((family) => {
            const missing = facts?.families.find((one) => one.family === family)?.available === false;
            return (
              <label key={family} class="toggle" data-family={family}>
                <input
                  type="checkbox"
                  checked={families.includes(family)}
                  disabled={missing}
                  onChange={() => toggle(family)}
                />
                <span>{FAMILY_TABLE[family].label}</span>
              </label>
            );
          })}
          <span class="spring" />
          <label class="how-many">
            Hits
            <select value={k} onChange={({ currentTarget }) => setK(Number(currentTarget.value))}>
              {COUNTS.map((count) => (
                <option key={count} value={count}>
                  {count}
                </option>
              ))}
            </select>
          </label>
        </fieldset>
      </form>
    </search>
  );
}

function takeFirstPicture(files: Iterable<File> | ArrayLike<File> | null | undefined): boolean {
  const picture = Array.from(files ?? []).find(({ type }) => type.startsWith('image/'));
  if (!picture) return false;
  takePicture(picture, picture.name || 'the pasted picture');
  return true;
}

/** A pasted picture becomes the query; “/” focuses the field. */
function useShortcuts(field: { readonly current: HTMLInputElement | null }): void {
  useEffect(() => {
    const paste = (event: ClipboardEvent) => {
      if (takeFirstPicture(event.clipboardData?.files)) event.preventDefault();
    };
    const press = (event: KeyboardEvent) => {
      const typing = (event.target as HTMLElement).closest('input, textarea, select, dialog');
      if (event.key !== '/' || event.ctrlKey || event.metaKey || event.altKey || typing) return;
      event.preventDefault();
      field.current?.focus();
    };
    document.addEventListener('paste', paste);
    document.addEventListener('keydown', press);
    return () => {
      document.removeEventListener('paste', paste);
      document.removeEventListener('keydown', press);
    };
  }, [field]);
}
