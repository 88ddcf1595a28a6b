package stream

// Status says what a query is doing.
type Status struct {
	// Message is for people, e.g. "Waiting for data to arrive".
	Message string `json:"message"`
	// IsDataAvailable says that the last look found data.
	IsDataAvailable bool `json:"isDataAvailable"`
	// IsTriggerActive says that a batch is being planned or run.
	IsTriggerActive bool `json:"isTriggerActive"`
}
