import { mkdir, stat } from 'node:fs/promises';
import { dirname } from 'node:path';

/**
 * Makes a folder, and those above it, one after the other. Node's own recursive way never ends where the kernel has no such folder to
 * make, as in `/proc`. A folder that exists is left as it is.
 * @param mode for all created folders
 * @throws the error of the system: ENOENT where none can be made
 */
export async function makeFolder(path: string, mode?: number): Promise<void> {
  const make = () =>
    mkdir(path, { mode }).catch(async (error: NodeJS.ErrnoException) => {
      const exists = error.code === 'EEXIST' && (await stat(path)).isDirectory();
      if (!exists) throw error;
    });
  try {
    await make();
  } catch (error) {
    const above = dirname(path);
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || above === path) throw error;
    await makeFolder(above, mode);
    await make();
  }
}
