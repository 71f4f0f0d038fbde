import amem.v1.BrainServiceGrpc;
import amem.v1.CorrectRequest;
import amem.v1.CreateBrainRequest;
import amem.v1.EventType;
import amem.v1.IngestRequest;
import amem.v1.IngestResponse;
import amem.v1.MemoryServiceGrpc;
import amem.v1.NewEvent;
import amem.v1.QueryServiceGrpc;
import amem.v1.SearchRequest;
import amem.v1.SearchResponse;
import amem.v1.WriteOptions;
import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.ClientInterceptor;
import io.grpc.ClientInterceptors;
import io.grpc.ForwardingClientCall;
import io.grpc.ManagedChannel;
import io.grpc.ManagedChannelBuilder;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * A small agent in Java, over TCP with a token: remembers a fact, corrects it, and finds what is believed now.
 *
 * <p>Usage: Agent HOST:PORT TOKEN_FILE BRAIN
 */
public final class Agent {
  private static final Metadata.Key<String> AUTHORIZATION =
      Metadata.Key.of("authorization", Metadata.ASCII_STRING_MARSHALLER);

  public static void main(String[] arguments) throws Exception {
    if (arguments.length != 3) {
      System.err.println("usage: Agent HOST:PORT TOKEN_FILE BRAIN");
      System.exit(2);
    }
    String token = Files.readString(Path.of(arguments[1])).strip();
    String brain = arguments[2];
    // Without TLS a token may only travel on this machine.
    ManagedChannel plain = ManagedChannelBuilder.forTarget(arguments[0]).usePlaintext().build();
    try {
      System.out.println(run(ClientInterceptors.intercept(plain, new WithToken(token)), brain));
    } finally {
      plain.shutdownNow();
    }
  }

  private static String run(Channel channel, String brain) {
    var memory = MemoryServiceGrpc.newBlockingStub(channel);
    try {
      BrainServiceGrpc.newBlockingStub(channel)
          .createBrain(CreateBrainRequest.newBuilder().setBrain(brain).build());
    } catch (StatusRuntimeException refused) {
      if (refused.getStatus().getCode() != Status.Code.ALREADY_EXISTS) {
        throw refused;
      }
    }
    IngestResponse ingested =
        memory.ingest(
            IngestRequest.newBuilder()
                .setBrain(brain)
                .setOptions(WriteOptions.newBuilder().setAgent("agent-java"))
                .addEvents(
                    NewEvent.newBuilder()
                        .setType(EventType.EVENT_TYPE_FACT)
                        .setText("The staging database listens on port 5432"))
                .build());
    memory.correct(
        CorrectRequest.newBuilder()
            .setBrain(brain)
            .setTargetId(ingested.getEventIds(0))
            .setEvent(NewEvent.newBuilder().setText("The staging database listens on port 6432"))
            .setReason("moved behind a pooler")
            .build());
    SearchResponse found =
        QueryServiceGrpc.newBlockingStub(channel)
            .search(
                SearchRequest.newBuilder().setBrain(brain).setText("staging database port").build());
    if (found.getHitsCount() == 0) {
      throw new IllegalStateException("Search found nothing");
    }
    return found.getHits(0).getEvent().getText();
  }

  private record WithToken(String token) implements ClientInterceptor {
    @Override
    public <Q, R> ClientCall<Q, R> interceptCall(
        MethodDescriptor<Q, R> method, CallOptions options, Channel next) {
      return new ForwardingClientCall.SimpleForwardingClientCall<>(next.newCall(method, options)) {
        @Override
        public void start(Listener<R> listener, Metadata headers) {
          headers.put(AUTHORIZATION, "Bearer " + token);
          super.start(listener, headers);
        }
      };
    }
  }
}
