// Package testservice hands tests the real services that they talk to. A service's address comes from the environment;
// where it is not set the test is skipped, so that `go test ./...` passes with nothing but Go installed. The
// continuous integration run sets all of them, after starting the services by the scripts of scripts/.
package testservice

import (
	"os"
	"testing"
)

// The environment variables that hold the services' addresses.
const (
	// KafkaVar holds the bootstrap address of a Kafka broker, as host:port.
	KafkaVar = "WSTREAM_TEST_KAFKA"
	// PostgresVar holds the URL of a PostgreSQL database in which tables may be made, as postgres://….
	PostgresVar = "WSTREAM_TEST_POSTGRES"
	// MySQLVar holds the data source name of a MySQL or MariaDB database in which tables may be made, as
	// user@tcp(host:port)/database.
	MySQLVar = "WSTREAM_TEST_MYSQL"
	// S3Var holds the endpoint of a server with the S3 API as http://…, with the bucket S3Bucket and the key "test", "secret".
	S3Var = "WSTREAM_TEST_S3"
	// NATSVar holds the URL of a NATS server with JetStream, as nats://host:port.
	NATSVar = "WSTREAM_TEST_NATS"
	// ReadersVar holds the folder of a Python environment with Spark and deltalake, and of the jars that Spark needs.
	ReadersVar = "WSTREAM_TEST_READERS"
)

// Kafka returns the bootstrap address of a real broker, and skips the test where there is none.
func Kafka(t testing.TB) string { return address(t, KafkaVar, "scripts/kafka.sh") }

// Postgres returns the URL of a real PostgreSQL database, and skips the test where there is none.
func Postgres(t testing.TB) string { return address(t, PostgresVar, "scripts/postgres.sh") }

// MySQL returns the data source name of a real MySQL or MariaDB database, and skips the test where there is none.
func MySQL(t testing.TB) string { return address(t, MySQLVar, "scripts/mysql.sh") }

// S3Bucket is the bucket of the server that S3 returns.
const S3Bucket = "checkpoints"

// S3 returns the environment, as NAME=VALUE, with which a client finds a real server with the S3 API, and skips the test where
// there is none.
func S3(t testing.TB) []string {
	t.Helper()
	return []string{
		"AWS_ENDPOINT_URL_S3=" + address(t, S3Var, "scripts/s3.sh"), "AWS_ACCESS_KEY_ID=test", "AWS_SECRET_ACCESS_KEY=secret",
		"AWS_REGION=us-east-1",
	}
}

// NATS returns the URL of a real NATS server with JetStream, and skips the test where there is none.
func NATS(t testing.TB) string { return address(t, NATSVar, "scripts/nats.sh") }

// Readers returns the folder that scripts/install.sh readers has made, with bin/python and jars in it, and skips the test
// where there is none.
func Readers(t testing.TB) string { return address(t, ReadersVar, "scripts/install.sh readers") }

func address(t testing.TB, variable, script string) string {
	t.Helper()
	at := os.Getenv(variable)
	if at == "" {
		t.Skipf("%s is not set; `%s start` starts the service and prints its address", variable, script)
	}
	return at
}
