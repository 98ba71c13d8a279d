import t from 'tap';
import { attachmentHeaders } from '../../../../src/server/http/exchange/attachment.ts';

const disposition = (name: string) =>
  attachmentHeaders({ name, media_type: 'text/plain' })['Content-Disposition'];

t.test('a hostile file name cannot break out of its header', async (t) => {
  t.equal(disposition('a b.txt'), `attachment; filename="a b.txt"; filename*=UTF-8''a%20b.txt`);
  t.equal(
    disposition('x"\r\nSet-Cookie: a=b'),
    `attachment; filename="x___Set-Cookie_ a_b"; filename*=UTF-8''x%22%0D%0ASet-Cookie%3A%20a%3Db`,
  );
  t.equal(disposition("ä'(*)"), `attachment; filename="_____"; filename*=UTF-8''%C3%A4%27%28%2A%29`);
  t.equal(disposition('\ud800.txt'), `attachment; filename="_.txt"; filename*=UTF-8''_.txt`);
  t.ok(disposition('🐦'.repeat(1000))!.length < 4096);
});
