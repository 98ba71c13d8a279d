import { threadId } from 'node:worker_threads';
import { answerTasks } from '../../../../src/engine/encode/workers/task-thread.ts';

/** A worker that says which thread it is. */
answerTasks(() => [{ model: 'm', provider: String(threadId), warmupMs: 0 }]);
