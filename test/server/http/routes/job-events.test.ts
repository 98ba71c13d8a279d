import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { text } from 'node:stream/consumers';
import t from 'tap';
import { startTestServer, TestAgent, type TestWorkspace } from '../../../rig/test-server.ts';

interface Seen {
  readonly state: string;
  readonly progress: number;
  readonly segments: number;
  readonly time_left_s?: number;
}

/** Shared by the tests that do not stop theirs. */
const server = await startTestServer(t);
const ORDER = ['accepted', 'extracting', 'encoding', 'committing', 'searchable'];

async function send(workspace: TestWorkspace, text: string) {
  const form = new FormData();
  form.set('file', new File([text], 'words.txt'));
  return (await workspace.send('POST', '/ingest', form)).body;
}

/** The events' data, in order; the stream is read to its end. */
async function eventsAt(url: string, token?: string): Promise<{ type: string | null; jobs: Seen[] }> {
  const response = await fetch(url, token ? { headers: { Authorization: `Bearer ${token}` } } : {});
  const text = await response.text();
  const jobs = [...text.matchAll(/^event: job\ndata: (.*)$/gm)].map(([, data]) => JSON.parse(data!) as Seen);
  return { type: response.headers.get('content-type'), jobs };
}

t.test('a job is followed by events, in the order of its states, to its end', async (t) => {
  const workspace = await new TestAgent(server.url).rent();
  const words = Array.from(
    { length: 800 },
    (_, index) => `Sentence number ${index} tells of a ship and its harbour.`,
  );
  const { job_id } = await send(workspace, words.join(' '));
  const url = `${server.url}/agent/v1/workspaces/${workspace.id}/jobs/${job_id}/events`;
  const { type, jobs } = await eventsAt(url, workspace.token);
  t.equal(type, 'text/event-stream');
  const places = jobs.map(({ state }) => ORDER.indexOf(state));
  t.same(
    places,
    [...places].sort((a, b) => a - b),
    'a job’s states never go back',
  );
  t.match(jobs.at(-1), { state: 'searchable', progress: 1 });
  t.ok(jobs.length > 2, `${jobs.length} events`);
  t.ok(
    jobs.some(({ time_left_s }) => Number.isInteger(time_left_s)),
    'the time left is shown',
  );
  t.equal(jobs.at(-1)?.time_left_s, undefined);
  const ended = await eventsAt(url, workspace.token);
  t.match(ended.jobs, [{ state: 'searchable' }], 'an ended job is one event');
  t.equal(ended.jobs.length, 1);
});

t.test('a cancelled job ends its stream, and so does the end of the workspace', async (t) => {
  const agent = new TestAgent(server.url);
  const long = 'A sentence about rivers and bridges. '.repeat(40_000);
  for (const end of ['job', 'workspace']) {
    const workspace = await agent.rent();
    const { job_id } = await send(workspace, long);
    const url = `${server.url}/agent/v1/workspaces/${workspace.id}/jobs/${job_id}/events`;
    const following = eventsAt(url, workspace.token);
    await workspace.send('DELETE', end === 'job' ? `/jobs/${job_id}` : '');
    t.match((await following).jobs.at(-1)?.state, /cancelled|searchable/);
  }
});

t.test('a stop ends streams and waits of jobs, which resume at the next start', async (t) => {
  const stopping = await startTestServer(t);
  const workspace = await new TestAgent(stopping.url).rent();
  const words = Array.from({ length: 1500 }, (_, index) => `Ship number ${index} lies in the harbour.`);
  const { job_id } = await send(workspace, words.join(' '));
  const url = `${stopping.url}/agent/v1/workspaces/${workspace.id}/jobs/${job_id}/events`;
  // `fetch` of the tests looks at whole answers.
  const asked = request(url, { headers: { Authorization: `Bearer ${workspace.token}` } }).end();
  const [stream] = (await once(asked, 'response')) as [IncomingMessage];
  const events = text(stream);
  const waiting = workspace.ingest('words.txt', words.join(' '));
  // Its turn has come when the one after it is answered.
  await fetch(`${stopping.url}/healthz`);
  const stopped = stopping.stop();
  t.notMatch(await events, /"state":"(searchable|failed|cancelled)"/, 'before the end of the job');
  const answer = await waiting;
  t.match(
    [answer.status, answer.body],
    [200, { duplicate: true, job: { state: /accepted|extracting|encoding|committing/ } }],
  );
  await stopped;
});
