import type { MakeReader } from '../reading/format-reader.ts';
import { slackNames, USERS } from '../text/chats.ts';
import { countMembers, giveMembers } from './members.ts';
import { packageType } from './package-type.ts';
import { isWanted, memberRefusal } from './unpack-budget.ts';
import { isZip, unpackEntry, type ZipEntry, zipEntries } from './zip-directory.ts';

/** A zip of files, which is no package of a program: formats that are packages are asked before it. */
export const zip: MakeReader = (mediaType) => ({
  rejects: (file) => file.find(packageType),
  sniff: ({ bytes }) => isZip(bytes),
  open: ({ bytes }, { limits }) => ({
    kind: 'archive',
    mediaType,
    ...countMembers(wantedEntries(bytes), limits),
  }),
  unpack: ({ bytes }, { limits }, sink) => {
    const entries = wantedEntries(bytes);
    const users = entries.find(({ name }) => name === USERS);
    const named =
      users && memberRefusal(users.bytes, limits) === undefined
        ? slackNames(
            entries.map(({ name }) => name),
            () => unpackEntry(bytes, users),
          )
        : undefined;
    const unpack = (entry: ZipEntry): Uint8Array => {
      const content = unpackEntry(bytes, entry);
      return named ? named(entry.name, content) : content;
    };
    return giveMembers(entries, unpack, limits, sink);
  },
});

function wantedEntries(bytes: Uint8Array): ZipEntry[] {
  return zipEntries(bytes).filter(({ name, isFile }) => isWanted({ path: name, isFile }));
}
