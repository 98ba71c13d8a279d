import { threadId } from 'node:worker_threads';

/** A worker that says which thread it is. */
export default () => [{ model: 'm', provider: String(threadId), warmupMs: 0 }];
