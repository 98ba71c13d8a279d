/** A file of its own, so that the cryptography is loaded by those alone who use the play wallet. */
export { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
