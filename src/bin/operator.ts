import '../operator/commands/command.ts';
