import { useEffect, useRef, useState } from 'preact/hooks';
import type { Hit } from '../../../client/index.ts';
import { formatBytes, formatShare } from '../../model/format.ts';
import { previewOf } from '../../model/pictures.ts';
import { contentOf, moreLike } from '../../model/search/search.ts';
import { session } from '../../model/session.ts';
import { faultOf } from '../../model/workspace/workspace.ts';
import { CloseIcon, LikeIcon } from '../controls/icons.tsx';
import { FamilyTag } from '../results/family.tsx';
import { hasPicture, placeOf } from '../results/hit-card.tsx';
import { Snippet } from '../results/snippet.tsx';
import { BoxMark } from './box-mark.tsx';

interface HitDialogProps {
  readonly hit: Hit;
  readonly words: RegExp | undefined;
  readonly onClose: () => void;
}

/** A hit, large. */
export function HitDialog({ hit, words, onClose }: HitDialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  const { item, snippet, family, confidence, locator } = hit;
  const close = () => dialog.current?.close();
  return (
    <dialog class="hit-dialog" ref={dialog} aria-labelledby="hit-title" onClose={onClose}>
      <header>
        <h2 id="hit-title">{item.title ?? item.name}</h2>
        <button type="button" class="plain" aria-label="Close" onClick={close}>
          <CloseIcon />
        </button>
      </header>
      <div class="hit-body">
        {hasPicture(hit) && <Large hit={hit} />}
        <div class="hit-facts">
          <p>
            <FamilyTag family={family} /> {formatShare(confidence)} sure · {placeOf(hit)}
          </p>
          {locator.heading !== undefined && <p class="quiet">{locator.heading}</p>}
          {snippet !== undefined && (
            <blockquote>
              <Snippet text={snippet} words={words} />
            </blockquote>
          )}
          <p class="quiet">
            {item.name} · {item.media_type} · {formatBytes(item.bytes)}
          </p>
          <div class="buttons">
            <button
              type="button"
              onClick={() => {
                close();
                void moreLike(hit);
              }}
            >
              <LikeIcon /> More like this
            </button>
            <Download hit={hit} />
          </div>
        </div>
      </div>
    </dialog>
  );
}

/** The page or picture; a video plays from the moment that was found. */
function Large({ hit }: { hit: Hit }) {
  const { item, locator } = hit;
  const [address, setAddress] = useState<string>();
  const isVideo = item.media_type.startsWith('video/');
  useEffect(() => {
    const { opened } = session.value;
    if (!opened) return;
    let gone = false;
    let mine: string | undefined;
    const load = async () => {
      if (isVideo) mine = await contentOf(item.id);
      const small = isVideo ? undefined : await previewOf(opened, hit);
      if (gone && mine) URL.revokeObjectURL(mine);
      else setAddress(mine ?? small?.address);
    };
    load().catch((error: unknown) => session.set({ fault: faultOf(error) }));
    return () => {
      gone = true;
      if (mine) URL.revokeObjectURL(mine);
    };
  }, [hit, isVideo]);
  if (address === undefined) return <div class="large" data-state="loading" />;
  if (isVideo) {
    const { time_s: start = 0 } = locator;
    return <video class="large" controls autoPlay muted src={`${address}#t=${start}`} />;
  }
  return (
    <div class="large">
      <span class="framed">
        <img src={address} alt={item.name} />
        <BoxMark box={locator.box} />
      </span>
    </div>
  );
}

function Download({ hit: { item } }: { hit: Hit }) {
  const save = async () => {
    const address = await contentOf(item.id);
    const link = Object.assign(document.createElement('a'), { href: address, download: item.name });
    link.click();
    setTimeout(() => URL.revokeObjectURL(address), 60_000);
  };
  return (
    <button
      type="button"
      onClick={() => void save().catch((error: unknown) => session.set({ fault: faultOf(error) }))}
    >
      Save the file
    </button>
  );
}
