/** A refusal: what its body says, and its HTTP status, which the specification leaves open. */
export interface Failure {
	/** One of the specification's Errors table; the generic failure has none. */
	readonly type?: string;
	readonly description: string;
	readonly status: number;
}

function failure(type: string, description: string, status = 400): Failure {
	return { type, description, status };
}

function generic(status: number): Failure {
	return { description: 'Something went wrong. Please try again after some time', status };
}

/** Every failure that the specification lists under Errors, worded as issued. */
export const failures = {
	missingHeader: (name: string) =>
		failure('header_invalid', `Missing required header ${name}`, 401),
	badRequest: failure('bad_request', 'Invalid JSON request'),
	notAuthorized: failure('authentication_failure', 'You are not authorized', 401),
	tooManyRequests: failure('rate_limit', 'Too many requests', 429),
	missingParameter: (name: string) =>
		failure('missing_parameter', `Missing required parameter ${name}`),
	sendAtFormat: failure(
		'invalid_format',
		'Schedule date must be in valid format YYYY-MM-DD HH:MM +0',
	),
	expirePushFormat: failure(
		'invalid_format',
		'Please provide the valid format for expire_push parameter',
	),
	sendAtTooSoon: failure('invalid_value', 'Schedule date must be at least 5 minutes in future'),
	buttonValues: failure('invalid_value', "Invalid parameter 'action_buttons' values"),
	buttonsNotArray: failure('invalid_type', 'Parameter action_buttons must be an array'),
	unknownSubscriber: failure('invalid_sid', 'Subscriber not found', 404),
	unknownCampaign: failure('invalid_value', 'Invalid notification ID', 404),
};

/** Refusals of rules that the specification states without naming their failure: a decision of the simulator. */
export const ownFailures = {
	wrongContentType: failure('header_invalid', 'Header Content-Type must be application/json', 401),
	bodyTooLarge: failure('bad_request', 'Invalid JSON request', 413),
	unknownPath: generic(404),
	wrongMethod: generic(405),
	wrongType: (name: string, wanted: string) =>
		failure('invalid_type', `Parameter ${name} must be ${wanted}`),
	wrongValue: (name: string, rule: string) => failure('invalid_value', `Parameter ${name} ${rule}`),
};
