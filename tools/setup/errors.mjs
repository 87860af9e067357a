/** An error that the person running setup can act on: the message is one sentence, shown without a stack. */
export class SetupError extends Error {
  /**
   * @param {string} message
   * @param {string} [details] the failed program's output, shown below the sentence
   */
  constructor(message, details = '') {
    super(message);
    this.name = 'SetupError';
    this.details = details;
  }
}
