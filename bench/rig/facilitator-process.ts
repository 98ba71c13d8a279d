import { startAgreeingFacilitator } from './facilitator.ts';

/** The agreeing facilitator as a process of its own; messages set how many milliseconds a verification takes. */
const facilitator = await startAgreeingFacilitator();
process.on('message', (verifyMs: number) => {
  facilitator.verifyMs = verifyMs;
});
process.once('disconnect', () => process.exit(0));
process.send!(facilitator.url);
