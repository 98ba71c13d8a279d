import { join } from 'node:path';
import { EXTRACT_LIMITS, type Extracted, type ExtractLimits } from '../../src/domain/document.ts';
import { type ExtractorOptions, openExtractor } from '../../src/extract/extractor.ts';
import { type Teardown, temporaryFolder } from './temporary-folder.ts';

type Options = Partial<Omit<ExtractorOptions, 'limits'>> & { readonly limits?: Partial<ExtractLimits> };

/** Readers in processes of their own, as a server has them; closed when the test ends. Without other wishes pictures have no pixels. */
export function testExtractor(t: Teardown, { limits, ...options }: Options = {}) {
  const scratchFolder = join(temporaryFolder(t), 'scratch');
  const extractor = openExtractor({
    pictureSpec: undefined,
    scratchFolder,
    log: () => undefined,
    ...options,
    limits: { ...EXTRACT_LIMITS, ...limits },
  });
  t.teardown(() => extractor.close());
  const read = async (path: string): Promise<Extracted> =>
    extractor.extract(path, await extractor.open(path, { name: path }));
  return { extractor, scratchFolder, read };
}
