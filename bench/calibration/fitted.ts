import { execFileSync } from 'node:child_process';
import { join } from 'node:path';

const PYTHON = join(import.meta.dirname, '../../.build/fits/bin/python');

/** Result of `fit.py` for the data. @param kind one of its functions */
export function fitted<Facts = object>(
  kind: 'curves' | 'orders' | 'pictures' | 'sameness' | 'translation',
  data: object,
): Facts {
  const output = execFileSync(PYTHON, [join(import.meta.dirname, 'fit.py'), kind], {
    input: JSON.stringify(data),
    encoding: 'utf8',
    maxBuffer: 2 ** 28,
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  return JSON.parse(output) as Facts;
}
