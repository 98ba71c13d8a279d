import t from 'tap';
import { looksLikeMail } from '../../../src/readers/mail/mail.ts';
import { openBytes, readBytes } from '../../rig/readers.ts';
import { manyParts } from '../samples/hostile.ts';

t.test('text that mentions fields is no mail', async (t) => {
  t.notOk(looksLikeMail('Subject: the weather\n\nIt rains.'));
  t.notOk(looksLikeMail('From: here\nTo: there\nwe walked all day\nDate: today\n'));
  t.notOk(looksLikeMail('name: x\nversion: 1\ndate: 2\nfrom: y\n'));
  t.ok(looksLikeMail('From ada@example.org Tue\nFrom: a@b.c\nTo: b@c.d\nDate: now\n\nx'));
});

t.test('a mail that is nested too deep is refused as damaged', async (t) => {
  const depth = 300;
  const open = Array.from(
    { length: depth },
    (_, at) => `Content-Type: multipart/mixed; boundary="b${at}"\n\n--b${at}\n`,
  ).join('');
  const mail = Buffer.from(`From: a@b.c\nDate: now\nSubject: x\nMIME-Version: 1.0\n${open}\nwords`);
  await t.rejects(openBytes(mail), { code: 'file_corrupt' });
});

t.test('a mail of many parts is read, one of more than any has is refused', async (t) => {
  t.match((await readBytes(Buffer.from(manyParts(900)))).fileInfo, { mediaType: 'message/rfc822' });
  await t.rejects(openBytes(Buffer.from(manyParts(10_001))), { code: 'document_too_large' });
});
