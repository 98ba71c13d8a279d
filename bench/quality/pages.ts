import { existsSync, readFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { BenchWorkspace } from '../rig/agent.ts';
import { judgePassages, type PassageQuestion } from './passages.ts';

/** `questions.json`: where the files lie, and what is asked about which page of them. */
interface Questions {
  /** Beside the questions when absent. */
  readonly folder?: string;
  readonly questions:
    | readonly { readonly query: string; readonly file: string; readonly page: number }[]
    | readonly PassageQuestion[];
}

/** Questions about files with pages: is the right page the first hit, or among the first five? */
export async function judgePages(serverUrl: string, folder: string) {
  const { folder: of = '.', questions } = JSON.parse(
    readFileSync(join(folder, 'questions.json'), 'utf8'),
  ) as Questions;
  const files = [...new Set(questions.map(({ file }) => file))];
  const pathOf = (file: string) => resolve(folder, of, file);
  const missing = files.filter((file) => !existsSync(pathOf(file)));
  if (missing.length > 0) {
    console.log(`not run: ${basename(folder)} needs ${missing.map(pathOf).join(', ')}`);
    return undefined;
  }
  if (areAboutPassages(questions))
    return judgePassages(serverUrl, basename(folder), resolve(folder, of), questions);
  const workspace = await BenchWorkspace.rent(serverUrl, 240);
  for (const file of files)
    await workspace.ingest(basename(file), new Uint8Array(readFileSync(pathOf(file))));
  const ranks: number[] = [];
  for (const { query, file, page } of questions) {
    const { hits } = await workspace.search({ query, k: 10 });
    const rank = hits.findIndex(
      ({ item, locator }) => item.name === basename(file) && locator?.page === page,
    );
    ranks.push(rank);
    if (rank !== 0)
      console.log(
        `  "${query}": page ${page} of ${basename(file)} is at ${rank < 0 ? 'no place' : rank + 1}`,
      );
  }
  const within = (cut: number) => ranks.filter((rank) => rank >= 0 && rank < cut).length / ranks.length;
  const set = basename(folder);
  console.log(
    `${set}  by question: page at R@1 ${within(1).toFixed(3)}, R@5 ${within(5).toFixed(3)}   (${ranks.length} questions)`,
  );
  return {
    figures: { set, questions: ranks.length, page_r_at_1: within(1), page_r_at_5: within(5) },
    reliability: [],
  };
}

function areAboutPassages(questions: Questions['questions']): questions is readonly PassageQuestion[] {
  return questions.every((question) => 'has' in question);
}
