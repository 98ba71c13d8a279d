import t from 'tap';
import { looksLikeMail } from '../../../src/readers/mail/mail.ts';
import { manyParts } from '../../hostile/files.ts';
import { openBytes, readBytes, unpackBytes } from '../../rig/readers.ts';

const MAIL = Buffer.from(
  [
    'Return-Path: <ada@example.org>',
    'From: =?utf-8?Q?Ada_L=C3=B6w?= <ada@example.org>',
    'To: Ben <ben@example.org>, Cleo <cleo@example.org>',
    'Subject: =?utf-8?B?UGxhbnMgZm9yIHRoZSBsaWdodGhvdXNl?=',
    'Date: Tue, 3 Nov 2026 10:00:00 +0100',
    'Message-ID: <1@example.org>',
    'MIME-Version: 1.0',
    'Content-Type: multipart/mixed; boundary="outer"',
    '',
    '--outer',
    'Content-Type: multipart/alternative; boundary="inner"',
    '',
    '--inner',
    'Content-Type: text/plain; charset=iso-8859-1',
    'Content-Transfer-Encoding: quoted-printable',
    '',
    'The lamp is repaired on Thursday, says the caf=E9 owner.',
    '--inner',
    'Content-Type: text/html; charset=utf-8',
    '',
    '<p>The lamp is repaired on <b>Thursday</b>.</p>',
    '--inner--',
    '--outer',
    'Content-Type: text/csv; name="costs.csv"',
    'Content-Disposition: attachment; filename="costs.csv"',
    'Content-Transfer-Encoding: base64',
    '',
    Buffer.from('part,price\nlens,400\nbulb,12\n').toString('base64'),
    '--outer--',
    '',
  ].join('\r\n'),
);

t.test('a mail gives its fields, its text and its attachments', async (t) => {
  const { fileInfo, title, blocks } = await readBytes(MAIL);
  t.same(fileInfo, {
    kind: 'document',
    mediaType: 'message/rfc822',
    title: 'Plans for the lighthouse',
    members: 1,
    membersBytes: 28,
  });
  t.equal(title, 'Plans for the lighthouse');
  t.match(blocks[0]?.text, /^From: Ada Löw ada@example\.org\nTo: Ben ben@example\.org, Cleo/);
  t.match(blocks[0]?.text, /Attachments: costs\.csv$/);
  t.match(blocks[1]?.text, 'The lamp is repaired on Thursday, says the café owner.');
  t.same(await unpackBytes(MAIL), [{ path: 'costs.csv', text: 'part,price\nlens,400\nbulb,12\n' }]);
});

t.test('a mail of HTML alone gives its text; nothing is fetched or run', async (t) => {
  const mail = Buffer.from(
    'From: a@example.org\nDate: Tue, 3 Nov 2026 10:00:00 +0100\nSubject: Hi\nContent-Type: text/html\n\n<script>alert(1)</script><img src="http://127.0.0.1:9/x"><p>Only words.</p>\n',
  );
  const { blocks } = await readBytes(mail);
  t.equal(blocks.at(-1)?.text, 'Only words.');
});

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
