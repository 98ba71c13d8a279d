import type { Hit } from '@farthing/client';
import { bytesText } from '@farthing/protocol/figures';
import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { saveItem } from '../../model/files/content.ts';
import { hasPagePicture, kindOf, momentsOf } from '../../model/search/results.ts';
import { moreLike } from '../../model/search/search.ts';
import { attempt } from '../../model/server/attempt.ts';
import { BackIcon, CloseIcon, LikeIcon, NextIcon } from '../controls/icons.tsx';
import { Confidence } from '../parts/confidence.tsx';
import { Moments } from '../parts/moments.tsx';
import { formatOf, placeOf, sourceOf, titleOf } from '../parts/place.ts';
import { PagePicture } from './page-picture.tsx';
import { PassageText } from './passage-text.tsx';
import { Player } from './player.tsx';

interface HitDialogProps {
  readonly hit: Hit;
  /** A moment other than the hit's best. */
  readonly time?: number;
  readonly position: { readonly index: number; readonly count: number };
  /** To the next hit (1) or the previous one (-1). */
  readonly onMove: (step: number) => void;
  readonly onClose: () => void;
}

/** A hit, large: its page, film or text, with its neighbours a key away. */
export function HitDialog({ hit, time, position, onMove, onClose }: HitDialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  const { index, count } = position;
  // Moment of a film or recording: the one that was chosen, here or in the list.
  const [chosen, setChosen] = useState({ index, time });
  const moment = chosen.index === index ? chosen.time : undefined;
  const mayMove = (step: number) => index + step >= 0 && index + step < count;
  const press = (event: KeyboardEvent) => {
    const step = STEPS[event.key];
    if (
      step === undefined ||
      !mayMove(step) ||
      (event.target as HTMLElement).closest('video, audio, .passage')
    )
      return;
    event.preventDefault();
    onMove(step);
  };
  const close = () => dialog.current?.close();
  return (
    <dialog class="hit-dialog" ref={dialog} aria-labelledby="hit-title" onClose={onClose} onKeyDown={press}>
      <header>
        <div>
          <h2 id="hit-title">{titleOf(hit)}</h2>
          <p class="quiet">
            {[placeOf(hit, moment), hit.locator.heading, sourceOf(hit)].filter(Boolean).join(' · ')}
          </p>
        </div>
        <span class="spring" />
        <span class="quiet figure position">
          {index + 1} of {count}
        </span>
        <Step label="Previous hit (←)" aria-disabled={!mayMove(-1)} onClick={() => onMove(-1)}>
          <BackIcon />
        </Step>
        <Step label="Next hit (→)" aria-disabled={!mayMove(1)} onClick={() => onMove(1)}>
          <NextIcon />
        </Step>
        <Step label="Close" onClick={close}>
          <CloseIcon />
        </Step>
      </header>
      <Body
        key={index}
        hit={hit}
        at={moment ?? hit.locator.time_s ?? 0}
        onMoment={(to) => setChosen({ index, time: to })}
        onLeave={close}
      />
    </dialog>
  );
}

const STEPS: Readonly<Record<string, number>> = { ArrowLeft: -1, ArrowRight: 1 };

function Step({
  label,
  ...rest
}: {
  label: string;
  'aria-disabled'?: boolean;
  onClick: () => void;
  children: ComponentChildren;
}) {
  return <button type="button" class="plain" aria-label={label} title={label} {...rest} />;
}

interface BodyProps {
  readonly hit: Hit;
  /** Seconds from the start, of a film or recording. */
  readonly at: number;
  readonly onMoment: (time: number) => void;
  readonly onLeave: () => void;
}

function Body({ hit, at, onMoment, onLeave }: BodyProps) {
  const kind = kindOf(hit);
  const moments = momentsOf(hit);
  const isRecording = kind === 'film' || kind === 'sound';
  const isWide = !hasPagePicture(hit) && !isRecording;
  return (
    <div class="hit-body" data-wide={isWide}>
      {isRecording ? <Player hit={hit} at={at} /> : hasPagePicture(hit) && <PagePicture hit={hit} />}
      <div class="hit-facts">
        {moments.length > 1 && <Moments hit={hit} moments={moments} onOpen={onMoment} />}
        <PassageText hit={hit} />
        <Confidence hit={hit} />
        <p class="quiet">
          {hit.item.name} · {formatOf(hit.item)} · {bytesText(hit.item.bytes)}
        </p>
        <div class="buttons">
          <button
            type="button"
            onClick={() => {
              onLeave();
              void moreLike(hit);
            }}
          >
            <LikeIcon /> More like this
          </button>
          <button type="button" onClick={() => void attempt(undefined, () => saveItem(hit.item))}>
            Save the file
          </button>
        </div>
      </div>
    </div>
  );
}
