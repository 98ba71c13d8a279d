import { connect } from 'node:net';
import t from 'tap';
import { BEARER, inWorkspace, startNodes, type TestNode, workspaceRoute } from './nodes.ts';

/** Requests as no library sends them: what is passed on is what came. */

const echo = workspaceRoute('POST', '/echo/{rest}', async ({ head, body }, { rest }) => ({
  status: 200,
  headers: {},
  body: { rest, query: head.query, bytes: (await body.whole(2 ** 24)).length },
}));

/** Sends bytes to a server and gives what comes until it or the client closes; `until` ends it. */
async function talk({ port }: TestNode, bytes: string, until: (heard: string) => boolean): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  socket.write(bytes);
  let heard = '';
  for await (const piece of socket) {
    heard += String(piece);
    if (until(heard)) break;
  }
  socket.destroy();
  return heard;
}

const head = (path: string, ...lines: string[]) =>
  [`POST ${path} HTTP/1.1`, 'Host: a', `Authorization: ${BEARER.authorization}`, ...lines, '', ''].join(
    '\r\n',
  );
const answers = (heard: string) => heard.match(/\{"rest".*?\}/g)?.map((answer) => JSON.parse(answer)) ?? [];

t.test('a path keeps its bytes', async (t) => {
  const { a, b } = await startNodes(t, () => [echo]);
  for (const rest of ['%2e%2E', 'größe', 'a;b,c', '%c3%28', 'a//b'.replace('//', '%2F')]) {
    const request = head(`${inWorkspace('/echo/')}${rest}?x=ü&&y`, 'Content-Length: 0');
    const [passed, direct] = await Promise.all(
      [a, b].map((node) => talk(node, request, (heard) => answers(heard).length > 0)),
    );
    t.same(answers(passed!), answers(direct!), rest);
  }
});

t.test('a head of which no client should is refused, or passed on, and is no fault of ours', async (t) => {
  const { a } = await startNodes(t, () => [echo]);
  const names = ['X-Said', 'X(Said)', 'X"Said', 'X@Said'];
  const values = ['s\x01o', 's\x7fo', 'größe', '', ' ', '\xff'];
  for (const line of [...values.map((value) => `X-Said: ${value}`), ...names.map((name) => `${name}: so`)]) {
    const heard = await talk(a, head(inWorkspace('/echo/x'), line, 'Content-Length: 0'), (text) =>
      text.includes('\r\n\r\n'),
    );
    t.match(heard, /^HTTP\/1.1 (?:200|400) /, JSON.stringify(line));
    t.equal(a.forwarding.underWay, 0);
  }
  t.same(a.faults, []);
});

t.test('a client that waits for leave to send its body gets it', async (t) => {
  const { a } = await startNodes(t, () => [echo]);
  for (const bytes of [10, 300_000]) {
    const socket = connect(a.port, '127.0.0.1');
    socket.write(head(inWorkspace('/echo/x'), `Content-Length: ${bytes}`, 'Expect: 100-continue'));
    let heard = '';
    let isSent = false;
    for await (const piece of socket) {
      heard += String(piece);
      if (!isSent && heard.includes('100 Continue')) socket.write('x'.repeat(bytes));
      isSent ||= heard.includes('100 Continue');
      if (answers(heard).length > 0) break;
    }
    socket.destroy();
    t.match(answers(heard), [{ bytes }]);
  }
});
