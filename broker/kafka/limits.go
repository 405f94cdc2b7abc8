package kafka

const (
	maxDefaultInFlight    = 1 << 30
	maxDefaultConnections = 10_000
)

// defaultInFlightBytes is a quarter of the memory, 1 GiB at most.
func defaultInFlightBytes() int {
	if quarter := memory() / 4; quarter > 0 {
		return int(min(quarter, maxDefaultInFlight))
	}
	return maxDefaultInFlight
}

// defaultMaxConnections is 70 % of the files this process may open, 10,000 at most.
func defaultMaxConnections() int {
	if files := openFiles(); files > 0 {
		return int(min(files*7/10, maxDefaultConnections))
	}
	return maxDefaultConnections
}
