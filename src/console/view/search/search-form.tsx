import { FAMILIES, FAMILY_TABLE, type Family } from '@farthing/protocol/family';
import { QUERY_LENGTH_MAX } from '@farthing/protocol/search';
import { useEffect, useRef, useState } from 'preact/hooks';
import { changeForm, search, takePicture } from '../../model/search/search.ts';
import { session } from '../../model/state/session.ts';
import { useStore } from '../../model/state/store.ts';
import { CloseIcon, PictureIcon, SearchIcon } from '../controls/icons.tsx';
import { OnlyFields } from './only-fields.tsx';
import { PastSearches } from './past-searches.tsx';
import { useShortcuts } from './use-shortcuts.ts';

/** Words, a picture, or both; which families; and previous searches. */
export function SearchForm() {
  const { form, searching } = useStore(session);
  const { query, picture } = form;
  const [isOver, setOver] = useState(false);
  const field = useRef<HTMLInputElement>(null);
  const chooser = useRef<HTMLInputElement>(null);
  useEffect(() => field.current?.focus({ preventScroll: true }), []);
  useShortcuts(field, takeFirstPicture);
  const submit = (event: Event) => {
    event.preventDefault();
    void search();
  };
  return (
    <search class="searching">
      <form
        class="search"
        data-over={isOver}
        onSubmit={submit}
        onDragOver={() => setOver(true)}
        onDragLeave={() => setOver(false)}
        onDrop={(event) => {
          setOver(false);
          // The page handles other drops, and adds them as files.
          if (takeFirstPicture(event.dataTransfer?.files)) event.preventDefault();
        }}
      >
        <div class="field">
          {picture && (
            <span class="picture-chip">
              <img src={picture.address} alt={`Searching with ${picture.name}`} />
              <button
                type="button"
                class="plain"
                aria-label="Search without the picture"
                onClick={() => changeForm({ picture: undefined })}
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
            aria-keyshortcuts="/"
            placeholder={picture ? 'and these words' : 'Ask, describe a picture, or paste one'}
            autoComplete="off"
            maxLength={QUERY_LENGTH_MAX}
            value={query}
            onInput={({ currentTarget }) => changeForm({ query: currentTarget.value })}
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
        <Families />
        <OnlyFields />
      </form>
      <PastSearches />
    </search>
  );
}

function Families() {
  const { form, facts } = useStore(session);
  const { families } = form;
  const toggle = (family: Family) =>
    changeForm({
      families: families.includes(family)
        ? families.filter((chosen) => chosen !== family)
        : [...families, family],
    });
  return (
    <fieldset class="options">
      <legend class="unseen">Families to search; none means all that apply</legend>
      {FAMILIES.map((family) => {
        const isMissing = facts?.families.find((served) => served.family === family)?.available === false;
        return (
          <label key={family} class="toggle" data-family={family} title={FAMILY_TABLE[family].finds}>
            <input
              type="checkbox"
              checked={families.includes(family)}
              disabled={isMissing}
              onChange={() => toggle(family)}
            />
            <span>{FAMILY_TABLE[family].label}</span>
          </label>
        );
      })}
    </fieldset>
  );
}

function takeFirstPicture(files: Iterable<File> | ArrayLike<File> | null | undefined): boolean {
  const picture = Array.from(files ?? []).find(({ type }) => type.startsWith('image/'));
  if (!picture) return false;
  void takePicture(picture, picture.name || 'the pasted picture');
  return true;
}
