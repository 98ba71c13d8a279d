import t from 'tap';

/**
 * Imported for its effect: what a test tears down ends before its folder (`testdir`) is removed. tap does the two in the
 * order in which the first of each was asked for, from the last to the first; a folder that is removed under a running
 * server may be written to meanwhile, and then nothing else is torn down.
 */
const nothing = (): void => undefined;
t.teardown(nothing);
t.beforeEach((test) => test.teardown(nothing));
