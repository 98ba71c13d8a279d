import type { GaugeDescription } from '@farthing/server/metrics/gauges';
import type { Sharing } from './sharing.ts';
import type { Slots } from './slots.ts';

interface Sources {
  readonly slots: Slots;
  readonly sharing?: Sharing;
}

/** The gauges of slots. @param sources once the slots are placed */
export function slotGauges(sources: () => Sources): readonly GaugeDescription<undefined>[] {
  const standby = () => sources().sharing?.standby();
  return [
    {
      name: 'slots',
      help: 'Slots that this server answers for.',
      read: () => sources().slots.all.length,
    },
    {
      name: 'slots_unowned',
      help: 'Slots that no server answers for, as this server sees it.',
      read: () => sources().sharing?.unowned() ?? 0,
    },
    {
      name: 'standby_slots',
      help: 'Slots of other servers that this one follows.',
      read: () => standby()?.slots ?? 0,
    },
    {
      name: 'standby_lag_seconds',
      help: 'For how long the copy of books that is furthest behind has lacked something, as far as is known.',
      read: () => (standby()?.lagMs ?? 0) / 1000,
    },
    {
      name: 'standby_indexes',
      help: 'Indexes of the slots that are followed: current, behind, or left out for lack of space.',
      label: 'state',
      read: () => {
        const { current = 0, behind = 0, left_out = 0 } = standby()?.indexes ?? {};
        return { current, behind, left_out };
      },
    },
    {
      name: 'standby_bytes',
      help: 'Bytes of these indexes on this disk (FARTHING_STANDBY_BYTES_MAX).',
      read: () => standby()?.indexes.bytes ?? 0,
    },
  ];
}
